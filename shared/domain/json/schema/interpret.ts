import { LRUCache } from 'lru-cache';
import type { Json, JsonObject, JsonSchema } from '../../types.ts';
import type { Verdict } from '../schema.ts';
import { buildNode } from './interpret/build.ts';
import type { Node } from './interpret/node.ts';

/**
 * Checks a value by a schema that `checkJsonSchema` found sound, by walking both: nothing is compiled, so that a schema costs what a
 * value makes of it. Each step is charged to the work that is under way (`withinWork`). The verdict is that of `compileJsonSchema`; the
 * suite holds one against the other.
 * @throws TooMuchWork
 */
export function checkBySchema(schema: JsonSchema, value: Json): boolean {
    return typeof schema === 'boolean' ? schema : nodeOf(schema).check(value, { path: [], faults: undefined }, undefined);
}

/** Why a value does not fit, at most ten reasons. @throws TooMuchWork */
export function explainBySchema(schema: JsonSchema, value: Json): Extract<Verdict, { ok: false }>['errors'] {
    if (schema === false) return [{ path: '', message: 'boolean schema is false', keyword: 'false schema' }];
    const state = { path: [], faults: [] };
    if (schema !== true) nodeOf(schema).check(value, state, undefined);
    return state.faults.length > 0 ? state.faults : [{ path: '', message: 'does not fit its schema', keyword: '' }];
}

/** Validates as a compiled schema would. @throws TooMuchWork */
export function walkedVerdict(schema: JsonSchema, value: Json): Verdict {
    return checkBySchema(schema, value) ? { ok: true } : { ok: false, errors: explainBySchema(schema, value) };
}

/** Bytes of schemas that are kept ready, estimated as they are made ready. */
const MAX_BYTES = 16 * 1024 * 1024;

const ready = new LRUCache<JsonObject, { node: Node; bytes: number }>({ maxSize: MAX_BYTES, sizeCalculation: ({ bytes }) => bytes });

function nodeOf(schema: JsonObject): Node {
    const known = ready.get(schema);
    if (known !== undefined) return known.node;
    const made = buildNode(schema);
    ready.set(schema, made);
    return made.node;
}
