import type { JsonObject } from '../../../types.ts';
import { spend } from '../patterns.ts';
import { collectPlaces, resolveReference } from '../places.ts';
import type { Places } from '../structure.ts';
import { ARRAY_RULES } from './arrays.ts';
import { COMBINING_RULES } from './combining.ts';
import { type Check, fail, type Node, Seen } from './node.ts';
import { OBJECT_RULES } from './objects.ts';
import { PLAIN_RULES } from './plain.ts';
import type { Building, Rule } from './rule.ts';

/** In the order of Ajv, so that both find the same first fault. The rules about unevaluated parts come last. */
const RULES: readonly Rule[] = [...PLAIN_RULES, ...COMBINING_RULES, ...ARRAY_RULES, ...OBJECT_RULES];

/** Measured size of a node in bytes, including closures. */
const NODE_BYTES = 600;

const YES: Node = { check: () => true };
const NO: Node = { check: (_value, state) => fail(state, 'false schema', 'boolean schema is false') };

/** Builds the nodes of a schema, in one walk over it. References point to nodes and are not copied. */
export function buildNode(schema: JsonObject): { node: Node; bytes: number } {
    const made = new Map<JsonObject, Node>();
    let bytes = 0;
    let places: Places | undefined;
    const building: Building = {
        node(given) {
            if (typeof given === 'boolean') return given ? YES : NO;
            const inner = given as JsonObject;
            const known = made.get(inner);
            if (known !== undefined) return known;
            // Building a node takes about as long as twenty steps of validation.
            spend(20);
            bytes += NODE_BYTES;
            const node: Node = { check: YES.check };
            made.set(inner, node);
            node.check = allOf(
                RULES.flatMap((rule) => rule(inner, building) ?? []),
                inner,
            );
            return node;
        },
        follow(ref) {
            places ??= collectPlaces(schema);
            const target = resolveReference(ref, places);
            return building.node(target === undefined ? true : (places.schemas.get(target) ?? true));
        },
        keeps(more) {
            bytes += more;
        },
    };
    return { node: building.node(schema), bytes };
}

/** Combines all checks of a schema. They collect the evaluated parts if the caller or the last rule needs them. */
function allOf(checks: readonly Check[], schema: JsonObject): Check {
    const checksRest = Object.hasOwn(schema, 'unevaluatedProperties') || Object.hasOwn(schema, 'unevaluatedItems');
    const run: Check = (value, state, seen) => {
        spend(1 + checks.length);
        for (const check of checks) if (!check(value, state, seen)) return false;
        return true;
    };
    if (!checksRest) return run;
    return (value, state, seen) => {
        const own = new Seen();
        if (!run(value, state, own)) return false;
        seen?.add(own);
        return true;
    };
}
