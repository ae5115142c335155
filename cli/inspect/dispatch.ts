import { type Group, mergeGroups } from './groups.ts';
import { DISPATCHERS } from './is-dispatch.ts';
import { featuresOf } from './shape.ts';
import { addValues, openValues } from './values.ts';

/** A program has at most so many routes at one address; params with more different words are values. */
const MOST_WORDS = 60;
/** Two words may be two ways to show one thing. */
const FEWEST_WORDS = 3;
/** Groups of one word that are compared to those of another. */
const MOST_COMPARED = 3;
/** Pages or answers with less in common than this are of different routes. */
const ALIKE = 0.7;

/** Counts the words that may choose a route, so that a param with ever new words makes no group for each of them. */
export class DispatchWords {
    readonly #words = new Map<string, Set<string>>();

    /** Counts the pairs of an address. Returns false if one is beyond its limit. */
    tryAdd({ origin, pathname }: URL, pairs: readonly [string, string][]): boolean {
        const key = `${origin}${pathname}`;
        const known = this.#words.get(key) ?? new Set();
        this.#words.set(key, known);
        for (const pair of pairs) if (known.size < MOST_WORDS) known.add(JSON.stringify(pair));
        return pairs.every((pair) => known.has(JSON.stringify(pair)));
    }
}

/**
 * Decides which params that may choose a route do so: those that had several words and no other values, whose pages differ from word to
 * word for three of four pairs. For the others the groups of their words are joined, and the param is a param like any other.
 */
export function settleDispatch(groups: Iterable<Group>): Group[] {
    const byAddress = Map.groupBy(groups, (group) => addressWithout(group));
    return [...byAddress.values()].flatMap(settleAddress);
}

function addressWithout({ method, origin, segments }: Group): string {
    return `${method} ${origin}/${segments.map(({ prefix, core, suffix, form }) => (form === 'word' ? core : `${prefix}{}${suffix}`)).join('/')}`;
}

function settleAddress(groups: readonly Group[]): Group[] {
    const names = new Set(groups.flatMap(({ dispatch }) => dispatch.map(([name]) => name)).filter((name) => !DISPATCHERS.test(name)));
    const values = [...names].filter((name) => !chooses(name, groups));
    if (values.length === 0) return [...groups];
    for (const group of groups) for (const name of values) makeParam(group, name);
    const joined = new Map<string, Group>();
    for (const group of groups) {
        const key = `${JSON.stringify(group.dispatch)} ${group.operation?.key ?? ''} ${group.form === undefined} ${sortOf(group)}`;
        const same = joined.get(key);
        if (same === undefined) joined.set(key, group);
        else mergeGroups(same, group);
    }
    return [...joined.values()];
}

function sortOf({ answers }: Group): string {
    return (['json', 'html', 'text', 'none'] as const).find((sort) => answers[sort] > 0) ?? '';
}

function chooses(name: string, groups: readonly Group[]): boolean {
    if (groups.some(({ query, form }) => query.has(name) || form?.fields.has(name) === true)) return false;
    const byWord = Map.groupBy(
        groups.filter(({ sendings }) => sendings > 0),
        ({ dispatch }) => dispatch.find(([one]) => one === name)?.[1],
    );
    byWord.delete(undefined);
    const words = [...byWord.values()].map((some) => some.slice(0, MOST_COMPARED));
    if (words.length < FEWEST_WORDS || words.length >= MOST_WORDS) return false;
    const pairs = words.flatMap((some, place) => words.slice(place + 1).map((others) => areAlike(some, others)));
    return pairs.filter((alike) => alike).length * 4 <= pairs.length;
}

function areAlike(some: readonly Group[], others: readonly Group[]): boolean {
    return some.some((one) => others.some((other) => paramsOf(one) === paramsOf(other) && answersAlike(one, other)));
}

function paramsOf({ query }: Group): string {
    return [...query.keys()].sort().join(' ');
}

function answersAlike(one: Group, other: Group): boolean {
    if (sortOf(one) !== sortOf(other)) return false;
    if (one.answers.json > 0) return shared(featuresOf(one.shape), featuresOf(other.shape)) >= ALIKE;
    return shared(one.skeleton, other.skeleton) >= ALIKE;
}

/** Jaccard's measure. */
export function shared<T>(a: ReadonlySet<T>, b: ReadonlySet<T>): number {
    if (a.size + b.size === 0) return 1;
    const common = [...a].filter((one) => b.has(one)).length;
    return common / (a.size + b.size - common);
}

/** Gives the value that a group was kept apart by back to its params. */
function makeParam(group: Group, name: string): void {
    const pair = group.dispatch.find(([one]) => one === name);
    if (pair === undefined) return;
    group.dispatch = group.dispatch.filter((one) => one !== pair);
    if (group.sendings === 0) return;
    const values = openValues();
    for (let sent = 0; sent < group.sendings; sent++) addValues(values, [pair[1]]);
    group.query.set(name, values);
}
