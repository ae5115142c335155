import type { JsonObject } from '../../../shared/domain/types.ts';
import type { PageData } from './page-data.ts';

/** The data embedded in the pages of one route, by its place. */
export interface DataFacts {
    pages: number;
    places: Map<string, KnownData>;
}

interface KnownData extends Pick<PageData, 'entry' | 'at' | 'isList'> {
    pages: number;
    fields: Map<string, { path: string; pages: number }>;
}

/** The initial facts, before any page. */
export function createData(): DataFacts {
    return { pages: 0, places: new Map() };
}

const MAX_PLACES = 30;

/** Adds the data of one page. */
export function addData(facts: DataFacts, data: readonly PageData[]): void {
    const places = data.map(({ fields, ...place }): [string, KnownData] => [
        keyOf(place),
        { ...place, pages: 1, fields: new Map([...fields].map(([name, path]) => [name, { path, pages: 1 }])) },
    ]);
    mergeData(facts, { pages: 1, places: new Map(places) });
}

function keyOf({ entry, at, isList }: Pick<KnownData, 'entry' | 'at' | 'isList'>): string {
    return JSON.stringify([entry, at, isList]);
}

/** Adds `more` to `facts`. */
export function mergeData(facts: DataFacts, more: DataFacts): void {
    facts.pages += more.pages;
    for (const [key, place] of more.places) {
        const known = facts.places.get(key);
        if (known === undefined) {
            if (facts.places.size < MAX_PLACES) facts.places.set(key, place);
            continue;
        }
        known.pages += place.pages;
        for (const [name, field] of place.fields) {
            const same = known.fields.get(name);
            if (same === undefined) known.fields.set(name, field);
            else if (same.path === field.path) same.pages += field.pages;
        }
    }
}

/** The `select` entries for the main item of most pages of a route, and for the list on them. */
export function selectsOfData({ pages, places }: DataFacts): { thing: JsonObject | undefined; list: JsonObject | undefined } {
    const usual = [...places.values()].filter((place) => place.pages >= pages / 2);
    // On the last page of a list, the list may have a single item.
    const isListed = ({ entry, at }: KnownData) => places.has(keyOf({ entry, at, isList: true }));
    const thing = usual.find((place) => !place.isList && !isListed(place));
    const list = usual.find(({ isList }) => isList);
    return {
        thing: thing === undefined ? undefined : thingEntries(thing),
        list: list === undefined ? undefined : { items: listEntry(list) },
    };
}

function usualFields({ fields, pages }: KnownData): [name: string, path: string][] {
    return [...fields].filter(([, field]) => field.pages >= pages / 2).map(([name, { path }]) => [name, path]);
}

function thingEntries(place: KnownData): JsonObject {
    const { entry, at } = place;
    return Object.fromEntries(usualFields(place).map(([name, path]) => [name, withExpression(entry, at === '' ? path : `${at}.${path}`)]));
}

/** One expression reads a list inside one value. Separate items are read one by one. */
function listEntry(place: KnownData) {
    const { entry, at } = place;
    const fields = `{${usualFields(place)
        .map(([name, path]) => `${name}: ${path}`)
        .join(', ')}}`;
    return at === '' ? [withExpression(entry, fields)] : withExpression(entry, `${at}.${fields}`);
}

function withExpression(entry: JsonObject, expression: string): JsonObject {
    return { ...entry, ['microdata' in entry ? 'path' : 'json']: expression };
}
