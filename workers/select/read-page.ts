import { createHash } from 'node:crypto';
import type { LoginSign } from '../../shared/domain/fetch/login-words.ts';
import { cutResults, isNullAt, resultsAt, withResults, wrapResult } from '../../shared/domain/fetch/wrap-result.ts';
import { parseExact, withDoubles } from '../../shared/domain/json/exact-numbers.ts';
import { isFaithful } from '../../shared/domain/json/faithful-json.ts';
import { escapePointer } from '../../shared/domain/json/json-bounds.ts';
import { validateBySchema } from '../../shared/domain/json/schema/interpret.ts';
import { findSecrets } from '../../shared/domain/package/secrets-scan.ts';
import type { Endpoint, Extract, Json, JsonObject, JsonSchema, Method, ResponseType } from '../../shared/domain/types.ts';
import type { DetailCode } from '../../shared/refusals.ts';
import { isEmptyAnswer } from '../upstream/bodyless.ts';
import { fileAsJson } from './binary.ts';
import { readCsv } from './csv.ts';
import { decode, isUtf8, jsonIn } from './decode.ts';
import { eventsAsJson } from './event-stream.ts';
import { cannotSelect, InvalidResponse } from './invalid-response.ts';
import { isNothing } from './is-nothing.ts';
import { parseJson, refuseDepth, searchJson, selectJson } from './json.ts';
import { linesAsJson } from './json-lines.ts';
import { fitsInto, MAX_OUTPUT, refuseTooMuch, TOO_LONG } from './measure.ts';
import { withSortedKeys } from './sorted-keys.ts';
import { typedBy } from './typed-by-schema.ts';
import { withoutRepeats } from './unique-items.ts';

/** A page of the site, serializable for another process. */
export interface RawPage {
    status: number;
    contentType: string | undefined;
    body: Uint8Array;
    /** Whether `Content-Encoding` named a compression, which is undone. */
    wasEncoded?: boolean;
    url: string;
    method: Method;
    type: ResponseType;
    charset?: string | undefined;
}

export type ResponseRules = Endpoint['response'];

/** The result of `pagination.next` in a page: a value, or in HTML the URL of a link. */
export type NextFound = { value: Json } | { href: string };

/** A parsed body. Call `next` before `value`: reading a whole page of HTML changes it. */
interface Parsed {
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

/** The wanted part of an answer: at most `maxResults` of the results at a dotted path. */
export interface Wanted {
    results: string;
    maxResults: number;
}

/** The content of an answer, as the caller gets it. */
export interface Content {
    /** A JSON object. */
    text: string;
    /** Length of the list of results after the cut; 1 if there is no list. */
    results: number;
    isListed: boolean;
    truncated: boolean;
    /** Whether the answer is HTML that asks to sign in. */
    login?: LoginSign | undefined;
}

/**
 * Turns an answer into `data` (docs/api.md, "Hosted fetch"): decoded, parsed, selected, wrapped, validated by `response.schema`, and cut. JSON without a
 * selection keeps the site's text, unless parsers could disagree about it. Numbers keep their digits.
 * @param options.isMeasured whether to count the selected data first; for inline rules the page's size bounds it
 * @throws InvalidResponse for an answer that does not fit the endpoint, and for more than 10 MiB before the cut
 */
export function readPage(
    page: RawPage,
    rules: ResponseRules,
    wanted: Wanted,
    parse: ParseBody = parsePlain,
    { isMeasured = false }: { isMeasured?: boolean } = {},
): Content {
    const { schema, select } = rules;
    if (isEmptyAnswer(page) && !isEmptyList(page)) return cut(validateData({}, schema), wanted);
    const parsed = isEmptyAnswer(page) ? parsedShape({ items: [] }) : parse(textOf(page, rules), page, rules);
    const { json } = parsed;
    const whole = json?.whole;
    if (whole !== undefined && select === undefined && isFaithful(whole.text, whole.rounded)) {
        const kept = wrapText(whole.text, whole.rounded);
        const results = resultsAt(checkData(wrapResult(whole.rounded), schema), wanted.results);
        refuseLength(kept);
        const isCut = results !== undefined && results.length > wanted.maxResults;
        if (!isCut) return { text: kept, results: results?.length ?? 1, isListed: results !== undefined, truncated: false };
        return cut(wrapResult(parsed.value(rules)), wanted);
    }
    const data = wrapResult(parsed.value(rules));
    if (isMeasured) refuseTooMuch(data, { isSelected: select !== undefined });
    const content = cut(validateData(data, schema), wanted);
    return parsed.login === undefined ? content : { ...content, login: parsed.login };
}

/** Cuts `data` to the wanted results and serializes it. @throws InvalidResponse for more than 10 MiB */
function cut(whole: JsonObject, wanted: Wanted): Content {
    const isListed = resultsAt(whole, wanted.results) !== undefined;
    const { data, results, truncated } = cutResults(whole, wanted.results, wanted.maxResults);
    const text = JSON.stringify(data);
    refuseLength(text);
    return { text, results, isListed, truncated };
}

/** `wrapResult` for the JSON text of a value. */
function wrapText(text: string, value: Json | undefined): string {
    if (Array.isArray(value)) return `{"items":${text}}`;
    return typeof value === 'object' && value !== null ? text : `{"value":${text}}`;
}

/** One page of a walk: its data, the number of its results, and the next page. */
export interface Part {
    /** A JSON object. */
    text: string;
    /** `undefined` without a list of results. */
    items: number | undefined;
    /** There is no list because the answer has no body, or null instead of the list. Some sites end their pages this way. */
    isNothing?: true | undefined;
    /** The number of items in `text`: without the items that an earlier call delivered, and with `unique` without repeated items. */
    kept?: number | undefined;
    /** With `unique`: the index of the first item beyond the results that the call may still have. */
    cutAt?: number | undefined;
    /** With `unique`: the ids of the first kept items, at most the wanted results. */
    ids?: readonly string[] | undefined;
    total?: number | undefined;
    /** Whether this is the last page by `pagination.end.has_more`. */
    isLast?: boolean | undefined;
    /** Equal for pages with equal results, whatever the order of their keys; `undefined` without results. */
    fingerprint?: string | undefined;
    next: NextFound | undefined;
    /** As in `Content`. */
    login?: LoginSign | undefined;
}

export interface WantedPart {
    /** Dotted path of the list of results. */
    results: string;
    /** `pagination.next`, if the page itself contains it. */
    next: string | undefined;
    /**
     * `pagination.unique`, the ids of the earlier results, the most ids to return, and the number of results that the call may still have.
     */
    unique?: { id: string; known: readonly string[]; maxIds: number; left: number } | undefined;
    /** How many results at the beginning of the page an earlier call delivered. */
    skip?: number;
    /** `pagination.end`, for pages of JSON. */
    end?: { total: string | undefined; hasMore: string | undefined } | undefined;
}

/**
 * Reads one page of several: like `readPage`, but the data is validated when all pages are joined. Also finds the next page.
 * @throws InvalidResponse
 */
export function readPart(
    page: RawPage,
    rules: ResponseRules,
    { results, next, unique, skip = 0, end }: WantedPart,
    parse: ParseBody = parsePlain,
    { isMeasured = false }: { isMeasured?: boolean } = {},
): Part {
    if (isEmptyAnswer(page) && !isEmptyList(page)) return { text: '{}', items: undefined, isNothing: true, next: undefined };
    const parsed = isEmptyAnswer(page) ? parsedShape({ items: [] }) : parse(textOf(page, rules), page, rules);
    const found = next === undefined ? undefined : parsed.next(next);
    if (found !== undefined) refuseLongNext(found);
    const data = wrapResult(parsed.value(rules));
    if (isMeasured) refuseTooMuch(data, { isSelected: rules.select !== undefined });
    const items = resultsAt(data, results);
    const open = skip === 0 ? items : items?.slice(skip);
    const fresh = open === undefined || unique === undefined ? undefined : withoutRepeats(open, unique);
    const left = fresh?.items ?? open;
    const text = JSON.stringify(left === undefined || left === items ? data : withResults(data, results, left));
    refuseLength(text);
    const kept = left?.length;
    const cutAt = fresh?.cutAt;
    const fingerprint = fingerprintOf(items);
    return {
        text,
        items: items?.length,
        isNothing: (rules.select === undefined && isNullAt(data, results)) || undefined,
        kept,
        cutAt,
        ids: fresh?.ids,
        fingerprint,
        next: found,
        login: parsed.login,
        ...endIn(parsed, end),
    };
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
        if (json === undefined) throw cannotSelect(place, 'The page is a text, of which nothing can be selected.');
        if (typeof entry !== 'string') throw cannotSelect(place, 'The page is JSON, and this selector is for HTML.');
        return [name, json.search(entry, place)];
    });
    return Object.fromEntries(found);
}

/** The values of `pagination.end` in a page of JSON. A total that is no number of items is ignored, such as -1 for an unknown one. */
function endIn({ json }: Parsed, { total, hasMore }: NonNullable<WantedPart['end']> = NO_END): Pick<Part, 'total' | 'isLast'> {
    if (json === undefined) return {};
    const found = total === undefined ? undefined : json.search(total, '/pagination/end/total');
    const all = typeof found === 'string' && /^\d{1,15}$/.test(found) ? Number(found) : found;
    return {
        total: typeof all === 'number' && all >= 0 ? all : undefined,
        isLast: hasMore !== undefined && isNothing(json.search(hasMore, '/pagination/end/has_more')),
    };
}

const NO_END = { total: undefined, hasMore: undefined };

/** Characters to hash at a time: one call for each small item would take as long as serializing the item. */
const HASHED = 64 * 1024;

/** Hashes the items in chunks, since a sorted copy of all items would need much memory. */
function fingerprintOf(items: readonly Json[] | undefined): string | undefined {
    if (items === undefined || items.length === 0) return undefined;
    const hash = createHash('sha256');
    let text = '';
    for (const item of items) {
        text += `${JSON.stringify(withSortedKeys(item))},`;
        if (text.length < HASHED) continue;
        hash.update(text);
        text = '';
    }
    return hash.update(text).digest('base64');
}

/** Maximum size of a cursor, which is sent in a URL or a form. */
const MAX_NEXT = 64 * 1024;

/** @throws InvalidResponse */
function refuseLongNext(found: NextFound): void {
    const fits = 'href' in found ? found.href.length <= MAX_NEXT : fitsInto(found.value, MAX_NEXT);
    if (fits) return;
    const message = `What is found for the next page has more than ${MAX_NEXT} bytes.`;
    throw new InvalidResponse(message, [{ path: '/pagination/next', code: 'INVALID_VALUE', message }]);
}

/**
 * Joins the results of all pages into the data of the first, validates it, and cuts it.
 * @param texts texts of parts with a list of results
 * @throws InvalidResponse
 */
export function joinParts(texts: readonly string[], schema: JsonSchema | undefined, wanted: Wanted): Content {
    const [first = {}, ...others] = texts.map((text) => parseExact<JsonObject>(text));
    const items = resultsAt(first, wanted.results) ?? [];
    for (const other of others) for (const item of resultsAt(other, wanted.results) ?? []) items.push(item);
    validateData(first, schema);
    const truncated = items.length > wanted.maxResults;
    if (truncated) items.length = wanted.maxResults;
    return { text: JSON.stringify(first), results: items.length, isListed: true, truncated };
}

/**
 * Validates `data` by `response.schema` and returns it. Any data may have ExactNumbers, since expressions and texts of HTML have them, too.
 * @throws InvalidResponse
 */
function validateData(data: JsonObject, schema: JsonSchema | undefined): JsonObject {
    if (schema !== undefined) checkData(withDoubles(data) as JsonObject, schema);
    return data;
}

/** The same for data without ExactNumbers. */
function checkData(data: JsonObject, schema: JsonSchema | undefined): JsonObject {
    if (schema === undefined) return data;
    const verdict = validateBySchema(schema, data);
    if (verdict.ok) return data;
    const details = verdict.errors.map(({ path, message, keyword }) => ({ path: harmless(path), message, code: codeOf(keyword) }));
    throw new InvalidResponse('The answer does not fit the response schema of this endpoint.', details);
}

/** @throws InvalidResponse for JSON of more than 10 MiB */
function refuseLength(text: string): void {
    if (Buffer.byteLength(text) > MAX_OUTPUT) throw new InvalidResponse(TOO_LONG);
}

/** Replaces a pointer that contains a secret. Its steps are keys of the site's data. */
function harmless(pointer: string): string {
    return findSecrets(pointer) === undefined ? pointer : '/[removed]';
}

/** Decodes a page; lines of JSON, events and files become JSON. Rejects large JSON that is nested too deeply before decoding it. */
function textOf(page: RawPage, { sse = false }: Pick<ResponseRules, 'sse'> = {}): string {
    if (page.type === 'json' && page.body.length > LARGE && isUtf8(page)) refuseDepth(page.body);
    if (page.type === 'binary') return fileAsJson(page);
    const text = decode(page);
    if (page.type === 'ndjson') return sse ? eventsAsJson(text) : linesAsJson(text);
    return page.type === 'json' ? jsonIn(text) : text;
}

/** Types whose data has `items`. */
const LISTS: ReadonlySet<ResponseType> = new Set(['ndjson', 'csv', 'feed']);

/** Whether an empty body is a list without items. The answer to HEAD has no body and is no list. */
function isEmptyList({ type, method }: RawPage): boolean {
    return LISTS.has(type) && method !== 'HEAD';
}

/** Body size from which the depth is checked first. For smaller bodies the additional pass costs more than it saves. */
const LARGE = 256 * 1024;

/**
 * Parses JSON, types that `textOf` turned into JSON, CSV, and text. `html.ts` parses HTML in its own processes, because its libraries are
 * large.
 */
function parsePlain(text: string, { type }: RawPage, rules: Pick<ResponseRules, 'csv'> = {}): Parsed {
    if (type === 'text') {
        const value = ({ select }: ResponseRules) => {
            if (select !== undefined) throw cannotSelect('/select', 'The answer is text, of which nothing can be selected.');
            return text;
        };
        return { next: () => undefined, value };
    }
    if (type === 'csv') return parseTable(text, rules);
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

function parseTable(text: string, { csv }: Pick<ResponseRules, 'csv'>): Parsed {
    const parsed = parsedShape(readCsv(text, csv));
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

function codeOf(keyword: string): DetailCode {
    if (keyword === 'required') return 'REQUIRED';
    if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties') return 'UNKNOWN_FIELD';
    return keyword === 'type' ? 'INVALID_TYPE' : 'INVALID_VALUE';
}
