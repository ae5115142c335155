import type { LoginSign } from '../../shared/domain/fetch/login-words.ts';
import { wrapResult } from '../../shared/domain/fetch/wrap-result.ts';
import { parseExact } from '../../shared/domain/json/exact-numbers.ts';
import { escapePointer } from '../../shared/domain/json/json-bounds.ts';
import type { Endpoint, Extract, Json, JsonObject, ResponseType } from '../../shared/domain/types.ts';
import { isEmptyAnswer, type Page } from '../upstream/answers.ts';
import { fileAsJson } from './binary.ts';
import { essenceOf } from './content-type.ts';
import { readCsv } from './csv.ts';
import { decode, isUtf8, type Undecoded } from './decode.ts';
import { eventsAsJson } from './event-stream.ts';
import { cannotSelect } from './invalid-response.ts';
import { parseJson, refuseDepth, searchJson, selectJson } from './json.ts';
import { linesAsJson } from './json-lines.ts';
import { jsonIn } from './script-json.ts';
import { typedBy } from './typed-by-schema.ts';

/** A page of the site, serializable for another process. */
export interface RawPage extends Undecoded, Omit<Page, 'headers'> {
    /** Whether `Content-Encoding` named a compression, which is undone. */
    wasEncoded?: boolean;
}

export type ResponseRules = Endpoint['response'];

/** The result of `pagination.next` in a page: a value, or in HTML the URL of a link. */
export type NextFound = { value: Json } | { href: string };

/** A parsed body. Call `next` before `value`: reading a whole page of HTML changes it. */
export interface Parsed {
    /** Whether it is HTML that asks to sign in. */
    login?: LoginSign | undefined;
    next(expression: string): NextFound | undefined;
    /** The selected data, or the whole body, neither wrapped nor validated. JSON may have ExactNumbers. */
    value(rules: ResponseRules): Json;
    json?: {
        /** The whole body as JSON, and its value with rounded numbers; absent if the body is not JSON. */
        whole?: { text: string; rounded: Json };
        /** The result of an expression over the body. @param path pointer to the expression @throws InvalidResponse when it fails */
        search(expression: string, path: string): Json;
    };
}

export type ParseBody = (text: string, page: RawPage, rules: ResponseRules) => Parsed;

/** Types whose data has `items`. */
const LISTS: ReadonlySet<ResponseType> = new Set(['ndjson', 'csv', 'feed']);

/**
 * Decodes and parses a page. An empty body of a type of list is a list without items.
 * @returns undefined if the answer has no body; one to HEAD is no list
 * @throws InvalidResponse
 */
export function parsePage(page: RawPage, rules: ResponseRules, parse: ParseBody = parsePlain): Parsed | undefined {
    if (!isEmptyAnswer(page)) return parse(textOf(page, rules), page, rules);
    return LISTS.has(page.type) && page.method !== 'HEAD' ? parsedShape({ items: [] }) : undefined;
}

/**
 * The values that a step of `prepare` extracts from a page of JSON, by name.
 * @param step.path pointer to the step
 * @throws InvalidResponse
 */
export function extractPlain(
    page: RawPage,
    { path, extract }: { path: string; extract: Readonly<Record<string, Extract>> },
): Record<string, Json> {
    const { json } = parsePlain(textOf(page), page);
    const found = Object.entries(extract).map(([name, entry]): [string, Json] => {
        const place = `${path}/extract/${escapePointer(name)}`;
        if (json === undefined) throw cannotSelect(place, 'The page is plain text, from which nothing can be selected.');
        if (typeof entry !== 'string') throw cannotSelect(place, 'The page is JSON, and this selector is for HTML.');
        return [name, json.search(entry, place)];
    });
    return Object.fromEntries(found);
}

/** Body size from which the depth is checked first. For smaller bodies the additional pass costs more than it saves. */
const LARGE = 256 * 1024;

/** Decodes a page; lines of JSON, events and files become JSON. Rejects large JSON that is nested too deeply before decoding it. */
function textOf(page: RawPage, { sse = false }: Pick<ResponseRules, 'sse'> = {}): string {
    if (page.type === 'json' && page.body.length > LARGE && isUtf8(page)) refuseDepth(page.body);
    if (page.type === 'binary') return fileAsJson(page);
    const text = decode(page);
    if (page.type === 'ndjson') return sse ? eventsAsJson(text) : linesAsJson(text);
    return page.type === 'json' ? jsonIn(text) : text;
}

/** Parses JSON, what `textOf` turned into JSON, CSV, and text. HTML has its own processes, because its libraries are large. */
function parsePlain(text: string, page: RawPage, rules: Pick<ResponseRules, 'csv'> = {}): Parsed {
    if (page.type === 'text') {
        const value = ({ select }: ResponseRules) => {
            if (select !== undefined) throw cannotSelect('/select', 'The answer is text, from which nothing can be selected.');
            return text;
        };
        return { next: () => undefined, value };
    }
    if (page.type === 'csv') return parseTable(text, page, rules);
    const rounded = parseJson(text);
    let exact: Json | undefined;
    const whole = () => {
        exact ??= parseExact<Json>(text, rounded);
        return exact;
    };
    const search = (expression: string, path: string) => searchJson(whole(), expression, path);
    return {
        next: (expression) => ({ value: search(expression, '/pagination/next') }),
        value: ({ select }) => (select === undefined ? whole() : selectJson(whole(), select)),
        json: { whole: { text, rounded }, search },
    };
}

/** The media type names the delimiter of TSV, which commas in each row would outnumber. */
function parseTable(text: string, { contentType }: RawPage, { csv }: Pick<ResponseRules, 'csv'>): Parsed {
    const isTabbed = essenceOf(contentType) === 'text/tab-separated-values';
    const parsed = parsedShape(readCsv(text, isTabbed ? { delimiter: '\t', ...csv } : csv));
    return { ...parsed, value: (rules) => typedBy(rules.schema, wrapResult(parsed.value(rules))) };
}

/** An answer that was converted to a fixed shape (CSV, feeds). `select` over it is JMESPath. */
export function parsedShape(shape: JsonObject): Parsed {
    const search = (expression: string, path: string) => searchJson(shape, expression, path);
    return {
        next: (expression) => ({ value: search(expression, '/pagination/next') }),
        value: ({ select }) => (select === undefined ? shape : selectJson(shape, select)),
        json: { search },
    };
}
