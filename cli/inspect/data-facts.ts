import type { JsonObject } from '../../shared/domain/types.ts';
import type { PageData } from './page-data.ts';

/** The data inside the pages of one route, by where it stands. */
export interface DataFacts {
    pages: number;
    places: Map<string, KnownData>;
}

interface KnownData extends Pick<PageData, 'entry' | 'at' | 'isList'> {
    pages: number;
    fields: Map<string, { path: string; pages: number }>;
}

/** The facts of a route without pages. */
export function openData(): DataFacts {
    return { pages: 0, places: new Map() };
}

const MOST_PLACES = 30;

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
            if (facts.places.size < MOST_PLACES) facts.places.set(key, place);
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

/** The entries of `select` for the thing that most pages of a route are about, and for the list that they have. */
export function selectsOfData({ pages, places }: DataFacts): { thing: JsonObject | undefined; list: JsonObject | undefined } {
    const usual = [...places.values()].filter((place) => place.pages >= pages / 2);
    // The last page of a list may have one thing.
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

/** A list that stands in one value is read by one expression; things that stand alone are read one by one. */
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
