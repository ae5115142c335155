import { getOrMake } from '../../../shared/domain/get-or-make.ts';
import type { JsonObject } from '../../../shared/domain/types.ts';
import type { PageList } from './page-lists.ts';

/** The lists on the pages of one route, by their selectors. */
export interface ListFacts {
    pages: number;
    lists: Map<string, KnownList>;
}

interface KnownList {
    /** The pages that have the list. */
    on: Set<symbol>;
    weight: number;
    attribute: string | undefined;
    fields: Map<string, { entry: JsonObject; pages: number }>;
}

/** The initial facts, before any page. */
export function createLists(): ListFacts {
    return { pages: 0, lists: new Map() };
}

const MAX_LISTS = 30;

/** Adds the lists of one page. */
export function addLists(facts: ListFacts, lists: readonly PageList[]): void {
    facts.pages++;
    const page = Symbol('page');
    for (const { selector, fields, attribute, weight } of lists) {
        if (!facts.lists.has(selector) && facts.lists.size >= MAX_LISTS) continue;
        const known = getOrMake(facts.lists, selector, () => ({ on: new Set(), weight: 0, attribute, fields: new Map() }));
        known.on.add(page);
        known.weight += weight;
        for (const [name, entry] of fields) {
            const field = known.fields.get(name);
            if (field === undefined) known.fields.set(name, { entry, pages: 1 });
            else if (JSON.stringify(field.entry) === JSON.stringify(entry)) field.pages++;
        }
    }
}

/** Adds `more` to `facts`. */
export function mergeLists(facts: ListFacts, more: ListFacts): void {
    facts.pages += more.pages;
    for (const [selector, list] of more.lists) {
        const known = facts.lists.get(selector);
        if (known === undefined) facts.lists.set(selector, list);
        else {
            for (const page of list.on) known.on.add(page);
            known.weight += list.weight;
            for (const [name, field] of list.fields) {
                const same = known.fields.get(name);
                if (same === undefined) known.fields.set(name, field);
                else if (JSON.stringify(same.entry) === JSON.stringify(field.entry)) same.pages += field.pages;
            }
        }
    }
}

/**
 * The `select` of the list that most pages of a route have. A third of the pages is enough, since a filter may leave a list empty. If the
 * other pages have another list whose items are read in the same way, it reads both lists.
 */
export function selectOf({ pages, lists }: ListFacts): JsonObject | undefined {
    const shared = [...lists]
        .filter(([, list]) => list.on.size >= pages / 3)
        .sort(([, a], [, b]) => b.on.size - a.on.size || b.weight - a.weight);
    const [found] = shared;
    if (found === undefined) return undefined;
    const [own, list] = found;
    const value = readOf(list);
    const other = shared.find(
        ([, one]) => [...one.on].every((page) => !list.on.has(page)) && JSON.stringify(readOf(one)) === JSON.stringify(value),
    );
    const selector = other === undefined ? own : `${own}, ${other[0]}`;
    if (value !== undefined) return { items: [{ selector, value }] };
    return list.attribute === undefined ? { items: [selector] } : { items: [selector], urls: [{ selector, value: list.attribute }] };
}

/** The fields that are read from each item; undefined if it has none. */
function readOf({ fields, on }: KnownList): JsonObject | undefined {
    const usual = [...fields].filter(([, { pages }]) => pages >= on.size / 2);
    return usual.length === 0 ? undefined : Object.fromEntries(usual.map(([name, { entry }]) => [name, plainEntry(entry)]));
}

function plainEntry(entry: JsonObject) {
    const { selector, ...rest } = entry;
    return Object.keys(rest).length === 0 ? (selector ?? '') : entry;
}
