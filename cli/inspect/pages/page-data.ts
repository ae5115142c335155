import type { CheerioAPI } from 'cheerio';
import { getOrMake } from '../../../shared/domain/get-or-make.ts';
import { isObject } from '../../../shared/domain/json/schema/structure.ts';
import type { Json, JsonObject } from '../../../shared/domain/types.ts';
import { dataIn, nodesOf } from '../../../workers/select/page-data.ts';
import { isAuthorsName } from '../words/author-names.ts';
import { identifier } from '../words/identifier.ts';
import { isValueAsKey } from '../words/shape.ts';

/** Data inside a page that `select` can read: one item, or a list of items. It contains field names only, no value. */
export interface PageData {
    /** The `select` entry without its expression. */
    entry: JsonObject;
    /** JMESPath of the item or list within the entry; '' for all of it. */
    at: string;
    isList: boolean;
    /** JMESPaths of the item's fields, by name. */
    fields: Map<string, string>;
}

const JSON_LD = 'script[type="application/ld+json"]';
const MAX_TYPES = 6;
const MAX_ITEMS = 40;
const MAX_LEVELS = 6;
const MAX_FIELDS = 12;
const MIN_FIELDS = 2;
/** The share of items that must have a field. */
const MIN_SHARE = 0.6;

/** Types of what surrounds the main item of a page, or is a part of it. */
const SECONDARY_TYPES =
    /^(?:Web(?:Site|Application)|\w*Page|\w*Action|\w*List|WP\w+|Blog|Organization|Corporation|ListItem|ImageObject|Person|SiteNavigationElement|EntryPoint|PostalAddress|Offer|AggregateOffer|AggregateRating|Rating|Brand|Review|Comment|QuantitativeValue)$/;

/** Finds data in a page: JSON-LD first, then microdata, then the initial state of scripts. @param embedded places of JSON */
export function dataOf($: CheerioAPI, embedded: readonly string[], base: string): PageData[] {
    const where = { path: '', base };
    return [...jsonLd($, where), ...microdata($, where), ...embedded.flatMap((place) => stateAt($, place, where))];
}

type Where = Parameters<typeof dataIn>[2];

interface Found {
    node: JsonObject;
    /** The block that holds the node, and its index in the page. */
    block: Json;
    place: number;
}

function jsonLd($: CheerioAPI, where: Where): PageData[] {
    const blocks = firstOf(dataIn($.root(), { selector: JSON_LD, json: '@' }, where), MAX_ITEMS).map(plainJson);
    const nodes = blocks.flatMap((block, place) =>
        nodesOf(block).flatMap((node) => (isObject(node) ? [{ node: node as JsonObject, block, place }] : [])),
    );
    return [...Map.groupBy(nodes, ({ node }) => typeOf(node))].slice(0, MAX_TYPES * 2).flatMap(([type, found]) => {
        if (type === undefined || type === 'BreadcrumbList') return [];
        const entry = { selector: JSON_LD, of: type };
        const inside = found.flatMap(({ node }) => [...partsOf(node)]);
        if (inside.length > 0) return listOrThing(entry, inside);
        if (SECONDARY_TYPES.test(type)) return [];
        // `select` reads one item of a type from each block.
        const isReadable = new Set(found.map(({ place }) => place)).size === found.length;
        return isReadable
            ? thingsAt(
                  entry,
                  found.map(({ node }) => node),
              )
            : listOfBlock(type, found);
    });
}

/** The items of a list, and what a page is about (`mainEntity`), which may be a list itself. */
function* partsOf(node: JsonObject): Generator<{ at: string; value: Json }> {
    for (const [at, holder] of [
        ['', node],
        ['mainEntity', node['mainEntity']],
    ] as const) {
        if (holder === undefined || holder === null) continue;
        const elements = isObject(holder) ? (holder as JsonObject)['itemListElement'] : undefined;
        const prefix = at === '' ? '' : `${at}.`;
        if (Array.isArray(elements)) {
            const areWrapped = elements.every((one) => isObject(one) && isObject(one['item']));
            const items = areWrapped ? elements.map((one) => (one as JsonObject)['item'] ?? null) : elements;
            yield { at: `${prefix}itemListElement[]${areWrapped ? '.item' : ''}`, value: items };
            return;
        }
        if (at !== '') yield { at: Array.isArray(holder) ? `${at}[]` : at, value: holder };
    }
}

function listOrThing(entry: JsonObject, [first]: readonly { at: string; value: Json }[]): PageData[] {
    if (first === undefined) return [];
    if (Array.isArray(first.value)) return listAt(entry, first.at, first.value);
    const fields = fieldsOf([first.value]);
    return fields.size < MIN_FIELDS ? [] : [{ entry, at: first.at, isList: false, fields }];
}

/** Several items of one type in one block, which is a list or has a `@graph`. */
function listOfBlock(type: string, found: readonly Found[]): PageData[] {
    const [first] = found;
    const isPlain = found.every(({ node, place }) => node['@type'] === type && place === first?.place);
    if (first === undefined || !isPlain) return [];
    const list = Array.isArray(first.block) ? '' : '"@graph"';
    return listAt(
        { selector: JSON_LD },
        `${list}[?"@type" == '${type}']`,
        found.map(({ node }) => node),
    );
}

function typeOf({ '@type': said }: JsonObject): string | undefined {
    const [type] = [said].flat();
    return typeof type === 'string' ? plainType(type) : undefined;
}

/** `https://schema.org/Product` → `Product`. */
function plainType(type: string): string | undefined {
    const name = type.replace(/^.*[/#:]/, '');
    return /^[A-Z][A-Za-z]{2,40}$/.test(name) ? name : undefined;
}

function microdata($: CheerioAPI, where: Where): PageData[] {
    const types = $('[itemscope][itemtype]')
        .toArray()
        .slice(0, MAX_ITEMS * 10)
        .flatMap((scope) => plainType($(scope).attr('itemtype') ?? '') ?? []);
    return [...new Set(types)].slice(0, MAX_TYPES).flatMap((type) => {
        if (SECONDARY_TYPES.test(type)) return [];
        const items = dataIn($.root(), { microdata: type, path: '@' }, where);
        return thingsAt({ microdata: type }, firstOf(items, MAX_ITEMS));
    });
}

function thingsAt(entry: JsonObject, things: readonly Json[]): PageData[] {
    if (things.length > 1) return listAt(entry, '', things);
    const fields = fieldsOf(things);
    return fields.size < MIN_FIELDS ? [] : [{ entry, at: '', isList: false, fields }];
}

function listAt(entry: JsonObject, at: string, things: readonly Json[]): PageData[] {
    const fields = fieldsOf(things.slice(0, MAX_ITEMS));
    return things.length < 2 || fields.size < MIN_FIELDS ? [] : [{ entry, at, isList: true, fields }];
}

/** The item and the list with the limit data in the state of a page. @param place as `script#__NEXT_DATA__` or `window.__STATE__` */
function stateAt($: CheerioAPI, place: string, where: Where): PageData[] {
    const entry: JsonObject | undefined = place.startsWith('window.')
        ? { assign: place }
        : place.startsWith('script#')
          ? { selector: place }
          : undefined;
    const [state] = entry === undefined ? [] : dataIn($.root(), { ...entry, json: '@' }, where);
    if (entry === undefined || state === undefined) return [];
    const found = [...placesIn(plainJson(state), '', 0)];
    return [true, false].flatMap((isList) => {
        const best = found.filter((one) => one.isList === isList).sort((a, b) => b.weight - a.weight)[0];
        return best === undefined ? [] : [{ entry, at: best.at, isList, fields: best.fields }];
    });
}

/** Parts of a state that are not the content of a page. */
const SETTINGS =
    /^(?:nav|navigation|\w*menus?|footer|header|i18n|locales?|translations|messages|config|\w*config|settings|features|flags|query|params|scripts|links|routes|user|session|viewer)$/i;
/** Fields that contain a name. Each item has one. */
const NAMING = /^(?:name|title|headline|label)$/;

function* placesIn(
    value: Json,
    at: string,
    level: number,
): Generator<{ at: string; isList: boolean; fields: Map<string, string>; weight: number }> {
    if (level > MAX_LEVELS || typeof value !== 'object' || value === null) return;
    const isList = Array.isArray(value);
    if (at !== '' && (!isList || value.length > 1)) {
        const things = isList ? value.slice(0, MAX_ITEMS) : [value];
        const fields = fieldsOf(things);
        if (fields.size >= MIN_FIELDS && [...fields.keys()].some((name) => NAMING.test(name)))
            yield { at: isList ? `${at}[]` : at, isList, fields, weight: fields.size * (isList ? value.length : 1) };
    }
    if (isList || isMap(value)) return;
    for (const [key, inner] of Object.entries(value))
        if (isFieldName(key) && !SETTINGS.test(key)) yield* placesIn(inner, at === '' ? key : `${at}.${key}`, level + 1);
}

/** Whether the keys of an object are values: all of its values are objects with the same fields. */
function isMap(value: JsonObject): boolean {
    const inner = Object.values(value);
    return (
        inner.length > 1 &&
        inner.every(isObject) &&
        new Set(
            inner.map((one) =>
                Object.keys(one as JsonObject)
                    .sort()
                    .join(),
            ),
        ).size === 1
    );
}

/** Paths of the fields that limit items have, by field name. */
function fieldsOf(things: readonly Json[]): Map<string, string> {
    const counts = new Map<string, { name: string; times: number }>();
    for (const thing of things) {
        for (const [name, path] of isObject(thing) ? pathsIn(thing as JsonObject) : []) {
            getOrMake(counts, path, () => ({ name, times: 0 })).times++;
        }
    }
    const fields = new Map<string, string>();
    for (const [path, { name, times }] of counts)
        if (times >= things.length * MIN_SHARE && !fields.has(name) && fields.size < MAX_FIELDS) fields.set(name, path);
    return fields;
}

const IGNORED = /^(?:mainEntityOfPage|publisher|potentialAction|breadcrumb|isPartOf|inLanguage|position|sameAs|__typename|items|urls)$/;

function* pathsIn(thing: JsonObject): Generator<[name: string, path: string]> {
    for (const [key, value] of Object.entries(thing)) {
        if (!isFieldName(key) || IGNORED.test(key)) continue;
        const name = identifier(key);
        const [first] = Array.isArray(value) ? value : [value];
        const path = Array.isArray(value) ? `${key}[]` : key;
        if (isText(first)) yield [name, key];
        else if (isObject(first)) {
            const naming = Object.keys(first).find((one) => NAMING.test(one) && isText((first as JsonObject)[one]));
            if (naming !== undefined) yield [name, `${path}.${naming}`];
            else
                for (const [inner, one] of Object.entries(first))
                    if (isFieldName(inner) && isText(one)) yield [nameWithin(thing, key, inner), `${path}.${inner}`];
        }
    }
}

/** The value of an image or a quantity has the name of its field, as has a part whose name the item uses itself. */
function nameWithin(thing: JsonObject, key: string, inner: string): string {
    if (/^(?:url|contentUrl|value|text)$/.test(inner)) return identifier(key);
    return identifier(inner in thing ? `${key}_${inner}` : inner);
}

function firstOf(values: Iterable<Json>, limit: number): Json[] {
    const first: Json[] = [];
    for (const value of values) {
        first.push(value);
        if (first.length >= limit) break;
    }
    return first;
}

function isText(value: unknown): boolean {
    return (typeof value === 'string' && value.trim() !== '') || typeof value === 'number' || typeof value === 'boolean';
}

function isFieldName(key: string): boolean {
    return /^[A-Za-z_]\w*$/.test(key) && isAuthorsName(key.replace(/^_+/, '')) && !isValueAsKey(key);
}

/** Turns lossless numbers into plain ones, since only their type matters here. */
function plainJson(value: Json): Json {
    return JSON.parse(JSON.stringify(value)) as Json;
}
