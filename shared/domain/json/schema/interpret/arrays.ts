import type { Json } from '../../../types.ts';
import { spend } from '../patterns.ts';
import { areEqual, checkPart, fail, fitsQuietly } from './node.ts';
import type { Rule } from './rule.ts';

function ofCount(keyword: 'minItems' | 'maxItems', words: string, fits: (length: number, given: number) => boolean): Rule {
    return ({ [keyword]: given }) => {
        if (typeof given !== 'number') return undefined;
        return (value, state) =>
            !Array.isArray(value) || fits(value.length, given) || fail(state, keyword, `must have ${words} ${given} items`);
    };
}

const uniqueItems: Rule = ({ uniqueItems: given }) => {
    if (given !== true) return undefined;
    return (value, state) => {
        const twins = Array.isArray(value) ? findDuplicates(value) : undefined;
        if (twins === undefined) return true;
        return fail(state, 'uniqueItems', `must have no equal items, but items ${twins[1]} and ${twins[0]} (counted from 0) are equal`);
    };
};

/** The indices of two equal items, the later one first. Plain values are looked up in a set, other values are compared with each other. */
function findDuplicates(items: readonly Json[]): [number, number] | undefined {
    const plain = new Map<Json, number>();
    const others: { item: Json; place: number }[] = [];
    spend(2 * items.length);
    for (const [place, item] of items.entries()) {
        if (typeof item !== 'object' || item === null) {
            const before = plain.get(item);
            if (before !== undefined) return [place, before];
            plain.set(item, place);
            continue;
        }
        const twin = others.find((other) => areEqual(other.item, item));
        if (twin !== undefined) return [place, twin.place];
        others.push({ item, place });
    }
    return undefined;
}

const items: Rule = ({ prefixItems, items: rest }, building) => {
    const first = Array.isArray(prefixItems) ? prefixItems.map(building.node) : [];
    const node = rest === undefined ? undefined : building.node(rest);
    if (first.length === 0 && node === undefined) return undefined;
    return (value, state, seen) => {
        if (!Array.isArray(value)) return true;
        for (const [place, item] of value.entries()) {
            const check = first[place] ?? node;
            if (check === undefined) break;
            if (!checkPart(check, item, place, state)) return false;
        }
        if (seen !== undefined) seen.upTo = Math.max(seen.upTo, node === undefined ? first.length : Number.POSITIVE_INFINITY);
        return true;
    };
};

const contains: Rule = ({ contains: given, minContains = 1, maxContains }, building) => {
    if (given === undefined) return undefined;
    const node = building.node(given);
    const max = typeof maxContains === 'number' ? maxContains : undefined;
    const words = max === undefined ? '' : ` and no more than ${max}`;
    return (value, state, seen) => {
        if (!Array.isArray(value)) return true;
        let found = 0;
        for (const [place, item] of value.entries()) {
            if (!fitsQuietly(node, item, state)) continue;
            found++;
            seen?.indices.add(place);
        }
        const fits = found >= Number(minContains) && (max === undefined || found <= max);
        return fits || fail(state, 'contains', `must contain at least ${String(minContains)}${words} valid items`);
    };
};

const unevaluatedItems: Rule = ({ unevaluatedItems: given }, building) => {
    if (given === undefined) return undefined;
    const node = building.node(given);
    return (value, state, seen) => {
        if (!Array.isArray(value) || seen === undefined) return true;
        for (let place = seen.upTo; place < value.length; place++) {
            if (seen.indices.has(place)) continue;
            if (given === false) return fail(state, 'unevaluatedItems', `must have at most ${seen.upTo} items`);
            if (!checkPart(node, value[place] as Json, place, state)) return false;
        }
        seen.upTo = Number.POSITIVE_INFINITY;
        return true;
    };
};

export const ARRAY_RULES: readonly Rule[] = [
    ofCount('maxItems', 'at most', (length, given) => length <= given),
    ofCount('minItems', 'at least', (length, given) => length >= given),
    uniqueItems,
    items,
    contains,
    unevaluatedItems,
];
