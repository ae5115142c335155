import type { Json } from '../../../types.ts';
import { fail, fitsQuietly, type Node, Seen, type State } from './node.ts';
import type { Rule } from './rule.ts';

const not: Rule = ({ not: given }, building) => {
    if (given === undefined) return undefined;
    const node = building.node(given);
    return (value, state) => !fitsQuietly(node, value, state) || fail(state, 'not', 'must NOT be valid');
};

/** Validates against one of several schemas. Its evaluated parts count only if it matches. */
function attempt({ check }: Node, value: Json, state: State, seen: Seen | undefined): boolean {
    if (seen === undefined) return check(value, state, undefined);
    const own = new Seen();
    const fits = check(value, state, own);
    if (fits) seen.add(own);
    return fits;
}

/** Drops the faults of failed branches once a branch matches. */
function dropFaultsIfFits(state: State, find: () => boolean): boolean {
    const { faults } = state;
    const before = faults?.length ?? 0;
    const fits = find();
    if (fits && faults !== undefined) faults.length = before;
    return fits;
}

const anyOf: Rule = ({ anyOf: given }, building) => {
    if (!Array.isArray(given)) return undefined;
    const nodes = given.map(building.node);
    return (value, state, seen) => {
        const fits = dropFaultsIfFits(state, () => {
            // All matching branches must report the parts that they evaluated.
            if (seen === undefined) return nodes.some((node) => node.check(value, state, undefined));
            return nodes.filter((node) => attempt(node, value, state, seen)).length > 0;
        });
        return fits || fail(state, 'anyOf', 'must match a schema in anyOf');
    };
};

const oneOf: Rule = ({ oneOf: given }, building) => {
    if (!Array.isArray(given)) return undefined;
    const nodes = given.map(building.node);
    return (value, state, seen) => {
        let fitting = 0;
        const fits = dropFaultsIfFits(state, () => {
            for (const node of nodes) {
                if (attempt(node, value, state, seen) && ++fitting > 1) return false;
            }
            return fitting === 1;
        });
        return fits || fail(state, 'oneOf', 'must match exactly one schema in oneOf');
    };
};

const allOf: Rule = ({ allOf: given }, building) => {
    if (!Array.isArray(given)) return undefined;
    const nodes = given.map(building.node);
    return (value, state, seen) => nodes.every((node) => node.check(value, state, seen));
};

const reference: Rule = ({ $ref: ref }, building) => {
    if (typeof ref !== 'string') return undefined;
    const node = building.follow(ref);
    return (value, state, seen) => node.check(value, state, seen);
};

const condition: Rule = ({ if: given, then: yes, else: no }, building) => {
    if (given === undefined) return undefined;
    const node = building.node(given);
    const nodeFor = (schema: Json | undefined) => (schema === undefined ? undefined : building.node(schema));
    const [ifSo, ifNot] = [nodeFor(yes), nodeFor(no)];
    return (value, state, seen) => {
        const own = seen === undefined ? undefined : new Seen();
        const holds = fitsQuietly(node, value, state, own);
        if (holds && own !== undefined) seen?.add(own);
        return (holds ? ifSo : ifNot)?.check(value, state, seen) ?? true;
    };
};

/** Rules that apply several schemas to one value. */
export const COMBINING_RULES: readonly Rule[] = [reference, not, anyOf, oneOf, allOf, condition];
