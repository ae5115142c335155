import { getOrMake } from '../../../shared/domain/get-or-make.ts';
import { isObject } from '../../../shared/domain/json/schema/structure.ts';
import type { Json, JsonObject, PackageEndpoint } from '../../../shared/domain/types.ts';
import { isPlural } from '../words/segments.ts';
import { addText, type Texts } from './page-facts.ts';

/** What documents of a site say of its params and calls (OpenAPI, JSON Schema, GraphQL, lists of arguments). Its size is bounded. */
export interface Declared {
    /** Descriptions of params, by name. */
    params: Map<string, Texts>;
    /** Calls by method and path with nameless placeholders, each with its description; '' for one without. */
    calls: Map<string, string>;
}

/** Whether data describe the site's own API. What they name is no thing of the site. */
export function isDescription(json: Json): boolean {
    return isObject(json) && ['openapi', 'swagger'].some((mark) => typeof json[mark] === 'string') && isObject(json['paths']);
}

/** Keys whose list or object declares names. Elsewhere things with a name and a description are data. */
const DECLARING = /^(?:params|parameters|properties|args|arguments|inputFields)$/;
const MAX_NAMES = 2000;
const MAX_LEVELS = 16;
const MAX_VALUES = 100_000;
const METHOD = /^(?:get|post|put|patch|delete|head)$/;

export function createDeclared(): Declared {
    return { params: new Map(), calls: new Map() };
}

/** Adds what one document declares. */
export function addDeclared(declared: Declared, json: Json): void {
    const waiting: { value: Json; key: string; level: number }[] = [{ value: json, key: '', level: 0 }];
    let read = 0;
    for (let next = waiting.pop(); next !== undefined && read < MAX_VALUES; next = waiting.pop()) {
        const { value, key, level } = next;
        if (typeof value !== 'object' || value === null) continue;
        read++;
        if (DECLARING.test(key)) declareParams(declared, value);
        if (key === 'paths' && isObject(value)) declareCalls(declared, value);
        for (const [name, inside] of level < MAX_LEVELS ? Object.entries(value) : [])
            if (typeof inside === 'object') waiting.push({ value: inside, key: Array.isArray(value) ? '' : name, level: level + 1 });
    }
}

/** Reads `[{ name, description, … }]` and `{ name: { description, … } }`. */
function declareParams({ params }: Declared, declared: Json[] | JsonObject): void {
    for (const [key, one] of Object.entries(declared)) {
        if (!isObject(one)) continue;
        const name = Array.isArray(declared) ? one['name'] : key;
        const text = sentenceIn(one['description']) || sentenceIn(one['title']);
        if (typeof name !== 'string' || text === '' || (params.size >= MAX_NAMES && !params.has(name))) continue;
        const known = params.get(name) ?? new Map<string, number>();
        params.set(name, known);
        addText(known, text);
    }
}

function declareCalls({ calls }: Declared, paths: JsonObject): void {
    for (const [path, methods] of Object.entries(paths)) {
        if (!isObject(methods) || !path.startsWith('/')) continue;
        for (const [method, call] of Object.entries(methods)) {
            if (METHOD.test(method) && isObject(call) && calls.size < MAX_NAMES)
                calls.set(keyOf(method, path), sentenceIn(call['summary']) || sentenceIn(call['description']));
        }
    }
}

/** What is declared of a call. Documents leave out the beginning that all paths have. */
export function findCall({ calls }: Declared, { method, url }: Pick<PackageEndpoint, 'method' | 'url'>): string {
    const [, path = ''] = /^https?:\/\/[^/?]+\/([^?]*)/.exec(url) ?? [];
    const segments = path.split('/');
    const ends = segments.map((_, place) => keyOf(method, `/${segments.slice(place).join('/')}`));
    return ends.map((key) => calls.get(key)).find((text) => text !== undefined) ?? '';
}

/**
 * Returns a function that finds how a description writes the path of a call, a placeholder as `{}`: of all that end like the address and
 * begin with a word, the one with the most words.
 */
export function createShapeFinder({ calls }: Declared): (method: string, segments: readonly string[]) => readonly string[] | undefined {
    const shapes = Map.groupBy(
        [...calls.keys()].map((key) => key.split('/')).filter(([, first]) => first !== '{}'),
        ([method]) => method,
    );
    return (method, segments) => {
        let best: { parts: readonly string[]; words: number } | undefined;
        for (const [, ...parts] of shapes.get(`${method} `) ?? []) {
            const skipped = segments.length - parts.length;
            const fits =
                skipped >= 0 &&
                parts.every((part, at) => part === segments[at + skipped] || (part === '{}' && segments[at + skipped] !== ''));
            const words = parts.filter((part) => part !== '{}').length;
            if (fits && words > (best?.words ?? 0)) best = { parts, words };
        }
        return best?.parts;
    };
}

/**
 * Paths of things that a description names one by one: words below a plural that have the same parts, such as `/collections/{collection}/items`
 * written as `/collections/piers/items` and `/collections/lamps/items`. Kinds of things have ids directly below them.
 */
export function namedThings({ calls }: Declared): ReadonlySet<string> {
    const below = new Map<string, Set<string>>();
    for (const key of calls.keys()) {
        const [method = '', ...parts] = key.split('/');
        for (const [place, part] of parts.entries())
            if (part !== '{}' && isPlural(parts[place - 1] ?? ''))
                getOrMake(below, parts.slice(0, place + 1).join('/'), () => new Set()).add(method + parts.slice(place + 1).join('/'));
    }
    const alike = Map.groupBy(below, ([path, some]) => JSON.stringify([path.replace(/[^/]*$/, ''), [...some].sort()]));
    const haveParts = (some: ReadonlySet<string> = new Set()) =>
        [...some].some((call) => !call.endsWith(' ')) && ![...some].some((call) => call.includes(' {}'));
    return new Set([...alike.values()].flatMap((same) => (same.length > 1 && haveParts(same[0]?.[1]) ? same.map(([path]) => path) : [])));
}

function keyOf(method: string, path: string): string {
    return `${method.toUpperCase()} ${path.replaceAll(/\{[^{}]*\}/g, '{}').replace(/\/$/, '')}`;
}

/** The first sentence of a text of several words, without its full stop. */
function sentenceIn(text: Json | undefined): string {
    if (typeof text !== 'string') return '';
    const [first = ''] = text
        .slice(0, 1000)
        .trim()
        .split(/\.?\s*\n|\.\s/, 1);
    return /\S\s+\S/.test(first) ? first.replaceAll(/\s+/g, ' ').replace(/\.$/, '') : '';
}
