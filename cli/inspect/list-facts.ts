import type { JsonObject } from '../../shared/domain/types.ts';
import type { PageList } from './page-lists.ts';

/** The lists that pages of one route have, and how many pages have each. */
export interface ListFacts {
    pages: number;
    lists: Map<
        string,
        { pages: number; weight: number; attribute: string | undefined; fields: Map<string, { entry: JsonObject; pages: number }> }
    >;
}

/** The facts of a route without pages. */
export function openLists(): ListFacts {
    return { pages: 0, lists: new Map() };
}

const MOST_KEPT = 30;

/** Adds the lists of one page. */
export function addLists(facts: ListFacts, lists: readonly PageList[]): void {
    facts.pages++;
    for (const { selector, fields, attribute, weight } of lists) {
        if (!facts.lists.has(selector) && facts.lists.size >= MOST_KEPT) continue;
        const known = facts.lists.get(selector) ?? { pages: 0, weight: 0, attribute, fields: new Map() };
        known.pages++;
        known.weight += weight;
        for (const [name, entry] of fields) {
            const field = known.fields.get(name);
            if (field === undefined) known.fields.set(name, { entry, pages: 1 });
            else if (JSON.stringify(field.entry) === JSON.stringify(entry)) field.pages++;
        }
        facts.lists.set(selector, known);
    }
}

/** Adds `more` to `facts`. */
export function mergeLists(facts: ListFacts, more: ListFacts): void {
    facts.pages += more.pages;
    for (const [selector, list] of more.lists) {
        const known = facts.lists.get(selector);
        if (known === undefined) facts.lists.set(selector, list);
        else {
            known.pages += list.pages;
            known.weight += list.weight;
            for (const [name, field] of list.fields) {
                const same = known.fields.get(name);
                if (same === undefined) known.fields.set(name, field);
                else if (JSON.stringify(same.entry) === JSON.stringify(field.entry)) same.pages += field.pages;
            }
        }
    }
}

/** The `select` of the list that most pages of a route have; undefined if half of them share none. */
export function selectOf({ pages, lists }: ListFacts): JsonObject | undefined {
    const shared = [...lists]
        .filter(([, list]) => list.pages >= pages / 2)
        .sort(([, a], [, b]) => b.pages - a.pages || b.weight - a.weight);
    const [found] = shared;
    if (found === undefined) return undefined;
    const [selector, list] = found;
    const fields = [...list.fields].filter(([, field]) => field.pages >= list.pages / 2);
    if (fields.length > 0)
        return { items: [{ selector, value: Object.fromEntries(fields.map(([name, { entry }]) => [name, plainEntry(entry)])) }] };
    return list.attribute === undefined ? { items: [selector] } : { items: [selector], urls: [{ selector, value: list.attribute }] };
}

function plainEntry(entry: JsonObject) {
    const { selector, ...rest } = entry;
    return Object.keys(rest).length === 0 ? (selector ?? '') : entry;
}
