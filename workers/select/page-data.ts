import type { CheerioAPI } from 'cheerio';
import { getOrMake } from '../../shared/domain/get-or-make.ts';
import { tryParseExact } from '../../shared/domain/json/exact-numbers.ts';
import { isObject } from '../../shared/domain/json/schema/structure.ts';
import { isJsonTooDeep } from '../../shared/domain/json/tokens.ts';
import type { Json } from '../../shared/domain/types.ts';
import { MAX_DEPTH, searchJson } from './json.ts';
import { microdataOf } from './microdata.ts';
import { literalsOf } from './script-literals.ts';
import { tableOf } from './table.ts';

type Matches = ReturnType<CheerioAPI>;

/** An entry of `select` that reads data inside a page: one of four forms. */
export interface DataEntry {
    /** The elements with the JSON; scripts by default. Tables use `table` instead. */
    selector?: string;
    /** The attribute or property with the JSON; the text by default. */
    value?: string;
    /** JMESPath over the JSON. */
    json?: string;
    /** The variable that a script assigns the JSON to, such as `window.__STATE__`. */
    assign?: string;
    /** `@type` of the block. */
    of?: string;
    microdata?: string;
    /** JMESPath over an item of microdata. */
    path?: string;
    table?: string;
}

/** Whether an entry reads data inside a page, and not elements. */
export function isDataEntry(entry: Json): boolean {
    return isObject(entry) && ['json', 'assign', 'microdata', 'table'].some((form) => Object.hasOwn(entry, form));
}

/**
 * Extracts the first match of an entry from a page. An empty list counts only if no block yields more: an expression over a list of
 * things finds one in a block without such things, too.
 * @throws InvalidResponse if an expression or a table fails
 */
export function firstDataIn(within: Matches, entry: DataEntry, where: { path: string; base: string }): Json {
    const found = dataIn(within, entry, where);
    return (entry.table === undefined ? firstFilled(found) : found.next().value) ?? null;
}

/** The first value that is neither null nor an empty list; else an empty list, if one is there. */
function firstFilled(values: Iterable<Json>): Json | undefined {
    let empty: Json | undefined;
    for (const value of values) {
        if (value === null) continue;
        if (!Array.isArray(value) || value.length > 0) return value;
        empty = value;
    }
    return empty;
}

/**
 * Extracts the matches of an entry from a page, in order, without running scripts. Skips blocks that are not JSON or yield null.
 * @param where `path` is the pointer to the entry, `base` the base of relative links
 * @throws InvalidResponse if an expression or a table fails
 */
export function* dataIn(within: Matches, entry: DataEntry, where: { path: string; base: string }): Generator<Json> {
    if (entry.table !== undefined) {
        for (const element of within.find(entry.table)) yield tableOf(within._make([element]));
        return;
    }
    const isMicrodata = entry.microdata !== undefined;
    const expression = (isMicrodata ? entry.path : entry.json) ?? '@';
    const path = `${where.path}/${isMicrodata ? 'path' : 'json'}`;
    for (const nodes of isMicrodata ? microdataOf(within, entry.microdata ?? '', where.base) : blocksIn(within, entry)) {
        const found = firstFilled(foundIn(nodes, expression, path));
        if (found !== undefined) yield found;
    }
}

function* foundIn(nodes: readonly Json[], expression: string, path: string): Generator<Json> {
    for (const node of nodes) yield searchJson(node, expression, path);
}

/** For each block of JSON, the nodes that may match: the block, and the nodes in its list or `@graph`. */
function* blocksIn(within: Matches, { selector = 'script', value = 'textContent', assign, of }: DataEntry): Generator<Json[]> {
    for (const element of within.find(selector)) {
        for (const block of parsedIn(within._make([element]), value, assign))
            yield nodesOf(block).filter((node) => of === undefined || isOfType(node, of));
    }
}

/** The blocks of each element, by how they are read. Many entries read the same state of a page, and parsing it takes long. */
const parsed = new WeakMap<object, Map<string, readonly Json[]>>();

function parsedIn(match: Matches, value: string, assign: string | undefined): readonly Json[] {
    const [element] = match;
    if (element === undefined) return [];
    const ways = getOrMake(parsed, element, () => new Map());
    return getOrMake(ways, JSON.stringify([value, assign]), () => {
        const text: unknown = match.prop(value);
        const written = typeof text !== 'string' ? [] : assign === undefined ? [plainOf(text)] : [...literalsOf(text, assign)];
        return written.map(tryParse).filter((block) => block !== undefined);
    });
}

/** The block, and the nodes of its list or `@graph`. Each block in a list may have a `@graph`. */
export function nodesOf(block: Json): Json[] {
    if (Array.isArray(block)) return [block, ...block.flatMap((node) => [node, ...graphOf(node)])];
    return [block, ...graphOf(block)];
}

/** A `@graph` with one node need not be a list (JSON-LD, "Named Graphs"). */
function graphOf(node: Json): Json[] {
    const graph = isObject(node) ? node['@graph'] : undefined;
    return graph === undefined ? [] : [graph].flat();
}

/** `@type` may be a list or a URL, or have a prefix: `https://schema.org/Product`, `schema:Product`. */
function isOfType(node: Json, name: string): boolean {
    const types = isObject(node) ? node['@type'] : undefined;
    return [types].flat().some((one) => typeof one === 'string' && (one === name || one.replace(/^.*[/#:]/, '') === name));
}

/** Removes the comments in which old pages hide scripts, and a semicolon behind the JSON. */
function plainOf(text: string): string {
    return text
        .replace(/^\s*(?:\/\/\s*|\/\*\s*)?(?:<!--|<!\[CDATA\[)(?:\s*\*\/)?/, '')
        .replace(/(?:\/\/\s*|\/\*\s*)?(?:-->|\]\]>)(?:\s*\*\/)?\s*$/, '')
        .replace(/;\s*$/, '');
}

function tryParse(text: string): Json | undefined {
    if (isJsonTooDeep(text, MAX_DEPTH)) return undefined;
    // Many pages have line breaks inside texts, which JSON does not allow.
    return tryParseExact(text) ?? tryParseExact(text.replaceAll(/[\u0000-\u001f]+/g, ' '));
}
