import type { CheerioAPI } from 'cheerio';
import { type AnyNode, hasChildren, isComment, isText } from 'domhandler';
import { escapePointer } from '../../shared/domain/json/json-bounds.ts';
import type { Json, JsonObject, SelectedType } from '../../shared/domain/types.ts';
import { convert, type Decimal } from './convert.ts';
import { createFinder, type Finder } from './finder.ts';
import { InvalidResponse } from './invalid-response.ts';
import { type DataEntry, dataIn, firstDataIn, isDataEntry } from './page-data.ts';

type Matches = ReturnType<CheerioAPI>;

interface Descriptor {
    selector: string;
    /** An attribute or property, or a map that is selected within each match. */
    value?: string | JsonObject;
    type?: SelectedType;
    decimal?: Decimal;
}

/** The element in which is selected. */
interface Source {
    within: Matches;
    finder: Finder;
}

interface Where {
    /** Pointer to the entry. */
    path: string;
    base: string;
}

/**
 * Runs `select` over HTML, in the form of cheerio's `extract`: texts trimmed, links absolute, values converted where an entry has a `type`.
 * Missing values, and values that cannot be converted, are null. Matches of a list without the attribute are skipped.
 * @param base the base of relative links
 * @throws InvalidResponse with a pointer to the selector that failed
 */
export function selectHtml($: CheerioAPI, select: JsonObject, base: string): JsonObject {
    const page = $.root();
    return selectMap({ within: page, finder: createFinder(page) }, entriesOf(select, { path: '/select', base }));
}

/** Runs one entry of a `select` map over the whole page. @throws InvalidResponse */
export function selectOne($: CheerioAPI, entry: Json, where: Where): Json {
    const page = $.root();
    return selectEntry({ within: page, finder: createFinder(page) }, entry, where);
}

/** The entries of a map with their places, which are the same for each row. */
function entriesOf(map: JsonObject, { path, base }: Where): { name: string; entry: Json; where: Where }[] {
    return Object.entries(map).map(([name, entry]) => ({ name, entry, where: { path: `${path}/${escapePointer(name)}`, base } }));
}

function selectMap(source: Source, entries: ReturnType<typeof entriesOf>): JsonObject {
    return Object.fromEntries(entries.map(({ name, entry, where }): [string, Json] => [name, selectEntry(source, entry, where)]));
}

function selectEntry(source: Source, entry: Json, where: Where): Json {
    const one = Array.isArray(entry) ? (entry[0] ?? '') : entry;
    if (isDataEntry(one)) return selectData(source.within, one as DataEntry & Conversion, where, { isList: Array.isArray(entry) });
    if (!Array.isArray(entry)) return selectAll(source, descriptorOf(entry), where, { isFirstAlone: true })[0] ?? null;
    const path = `${where.path}/0`;
    return selectAll(source, descriptorOf(entry[0] ?? ''), { ...where, path }, { isFirstAlone: false });
}

interface Conversion {
    type?: SelectedType;
    decimal?: Decimal;
}

function selectData(within: Matches, entry: DataEntry & Conversion, where: Where, { isList }: { isList: boolean }): Json {
    const { type, decimal } = entry;
    const path = isList ? `${where.path}/0` : where.path;
    const converted = (found: Json) => (type === undefined ? found : convert(found, type, decimal));
    return runSelector(path, () => {
        const place = { ...where, path };
        return isList ? [...dataIn(within, entry, place)].map(converted) : converted(firstDataIn(within, entry, place));
    });
}

function descriptorOf(entry: Json): Descriptor {
    return typeof entry === 'string' ? { selector: entry } : (entry as unknown as Descriptor);
}

function selectAll(
    { within, finder }: Source,
    { selector, value = 'textContent', type, decimal }: Descriptor,
    where: Where,
    { isFirstAlone }: { isFirstAlone: boolean },
): Json[] {
    return runSelector(where.path, () => {
        const elements = finder.find(within, selector, isFirstAlone);
        if (typeof value !== 'string') {
            const inside = finder.inside(selector);
            const entries = entriesOf(value, { ...where, path: `${where.path}/value` });
            return elements.map((element) => selectMap({ within: within._make([element]), finder: inside }, entries));
        }
        const values = elements.map((element) =>
            value === 'textContent' ? textContentOf(element).trim() : propertyOf(within._make([element]), value, where.base),
        );
        const found = values.filter((one) => one !== undefined);
        return type === undefined ? found : found.map((one) => convert(one, type, decimal));
    });
}

/** Attributes and properties that contain one URL. */
const LINKS: ReadonlySet<string> = new Set(
    'href src action formAction formaction poster cite data background longdesc manifest xlink:href'.split(' '),
);

/** Properties whose whitespace is significant. */
const MARKUP: ReadonlySet<string> = new Set(['innerHTML', 'outerHTML']);

/** The property `textContent`. */
function textContentOf(node: AnyNode): string {
    if (isText(node)) return node.data;
    if (!hasChildren(node) || isComment(node)) return '';
    let text = '';
    for (const child of node.children) text += textContentOf(child);
    return text;
}

function propertyOf(match: Matches, name: string, base: string): Json | undefined {
    const found: unknown = match.prop(name);
    if (typeof found === 'boolean' || typeof found === 'number') return found;
    if (typeof found !== 'string') return undefined;
    if (MARKUP.has(name)) return found;
    if (!LINKS.has(name)) return found.trim();
    return URL.parse(found, base)?.href ?? null;
}

/** @throws InvalidResponse with a pointer to the selector that failed */
export function runSelector<T>(path: string, run: () => T): T {
    try {
        return run();
    } catch (error) {
        if (error instanceof InvalidResponse || error instanceof RangeError) throw error;
        throw new InvalidResponse('A selector of this endpoint does not fit the answer.', [
            { path, code: 'INVALID_VALUE', message: 'A selector cannot be run over this page.' },
        ]);
    }
}
