import type { CheerioAPI } from 'cheerio';
import { escapePointer } from '../../shared/domain/json/json-bounds.ts';
import type { Json, JsonObject, SelectedType } from '../../shared/domain/types.ts';
import { convert, type Decimal } from './convert.ts';
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
    return selectMap($.root(), select, { path: '/select', base });
}

/** Runs one entry of a `select` map over the whole page. @throws InvalidResponse */
export function selectOne($: CheerioAPI, entry: Json, where: Where): Json {
    return selectEntry($.root(), entry, where);
}

function selectMap(within: Matches, map: JsonObject, { path, base }: Where): JsonObject {
    const entries = Object.entries(map).map(([name, entry]): [string, Json] => [
        name,
        selectEntry(within, entry, { path: `${path}/${escapePointer(name)}`, base }),
    ]);
    return Object.fromEntries(entries);
}

function selectEntry(within: Matches, entry: Json, where: Where): Json {
    const one = Array.isArray(entry) ? (entry[0] ?? '') : entry;
    if (isDataEntry(one)) return selectData(within, one as DataEntry & Conversion, where, { isList: Array.isArray(entry) });
    if (!Array.isArray(entry)) return selectAll(within, descriptorOf(entry), where, { isFirstAlone: true })[0] ?? null;
    const path = `${where.path}/0`;
    return selectAll(within, descriptorOf(entry[0] ?? ''), { ...where, path }, { isFirstAlone: false });
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
    within: Matches,
    { selector, value = 'textContent', type, decimal }: Descriptor,
    where: Where,
    { isFirstAlone }: { isFirstAlone: boolean },
): Json[] {
    const values: Json[] = [];
    const read = (element: Matches[number]): void => {
        const match = within._make([element]);
        if (typeof value !== 'string') values.push(selectMap(match, value, { ...where, path: `${where.path}/value` }));
        else {
            const found = propertyOf(match, value, where.base);
            if (found !== undefined) values.push(type === undefined ? found : convert(found, type, decimal));
        }
    };
    // `extract` stops at the first match, `find` does not.
    runSelector(where.path, () => within.extract({ it: isFirstAlone ? { selector, value: read } : [{ selector, value: read }] }));
    return values;
}

/** Attributes and properties that contain one URL. */
const LINKS: ReadonlySet<string> = new Set(
    'href src action formAction formaction poster cite data background longdesc manifest xlink:href'.split(' '),
);

/** Properties whose whitespace is significant. */
const MARKUP: ReadonlySet<string> = new Set(['innerHTML', 'outerHTML']);

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
