import { isFaithful } from '../../shared/domain/faithful-json.ts';
import { compileJsonSchema } from '../../shared/domain/json-schema.ts';
import { findSecrets } from '../../shared/domain/secrets-scan.ts';
import type { Endpoint, Json, JsonObject, JsonSchema, Method, ResponseType } from '../../shared/domain/types.ts';
import { cutResults, resultsAt, wrapResult } from '../../shared/domain/wrap-result.ts';
import type { DetailCode } from '../../shared/refusals.ts';
import { isBodyless } from '../upstream/bodyless.ts';
import { decode, isUtf8 } from './decode.ts';
import { cannotSelect, InvalidResponse } from './invalid-response.ts';
import { parseJson, refuseDepth, searchJson, selectJson } from './json.ts';
import { fitsInto, MAX_OUTPUT, refuseTooMuch, TOO_LONG } from './measure.ts';

/** What came from the site; plain enough to cross to a thread. */
export interface RawPage {
    status: number;
    contentType: string | undefined;
    body: Uint8Array;
    url: string;
    method: Method;
    /** What the body is read as. */
    type: ResponseType;
}

export type ResponseRules = Endpoint['response'];

/** What `pagination.next` finds in a page: a value, or in HTML the address of a link. */
export type NextFound = { value: Json } | { href: string };

/** A body that is parsed. Whoever asks for `next` asks first: reading a page of HTML whole takes it apart. */
export interface Parsed {
    next(expression: string): NextFound | undefined;
    /** What `select` takes from it, or all of it; not wrapped or judged yet. */
    value(rules: ResponseRules): Json;
}

export type ParseBody = (text: string, page: RawPage) => Parsed;

/** How much of an answer is wanted: at most so many of the results at a dotted path. */
export interface Wanted {
    results: string;
    most: number;
}

/** What an answer says, as its caller gets it. */
export interface Content {
    /** A JSON object. */
    text: string;
    /** Length of the list of results after the cut; 1 where there is no list. */
    results: number;
    isListed: boolean;
    truncated: boolean;
}

/**
 * Turns an answer into `data` (CONTRACT 4): decoded, parsed, selected, wrapped, judged by `response.schema`, and cut. JSON of which
 * all is wanted stays as the site wrote it, with numbers that JavaScript cannot hold, unless others could read something else in it.
 * @param options.isMeasured what is selected is counted before anything is made of it; for light rules the page's size bounds it
 * @throws InvalidResponse for what the endpoint does not describe, and for more than 10 MiB, counted before the cut
 */
export function readPage(
    page: RawPage,
    rules: ResponseRules,
    wanted: Wanted,
    parse: ParseBody = parsePlain,
    { isMeasured = false }: { isMeasured?: boolean } = {},
): Content {
    const text = isBodyless(page) ? undefined : textOf(page);
    let value = text === undefined ? undefined : parse(text, page).value(rules);
    const isAll = text !== undefined && page.type === 'json' && rules.select === undefined;
    const isExact = isAll && isFaithful(text, value);
    // What its reader might take for something else is judged as it goes out.
    if (isAll && !isExact) value = JSON.parse(JSON.stringify(value)) as Json;
    const whole = wrapResult(value);
    if (isMeasured && !isExact) refuseTooMuch(whole, { isSelected: rules.select !== undefined });
    judge(whole, rules.schema);
    const isListed = resultsAt(whole, wanted.results) !== undefined;
    const { data, results, truncated } = cutResults(whole, wanted.results, wanted.most);
    if (truncated && isExact) refuseLength(wrapText(text, value));
    const content = isExact && !truncated ? wrapText(text, value) : JSON.stringify(data);
    refuseLength(content);
    return { text: content, results, isListed, truncated };
}

/** As `wrapResult` does, with the text of a value. */
function wrapText(text: string, value: Json | undefined): string {
    if (Array.isArray(value)) return `{"items":${text}}`;
    return typeof value === 'object' && value !== null ? text : `{"value":${text}}`;
}

/** One page of several: what it says, how many results are in it, and where it says the next one is. */
export interface Part {
    /** A JSON object. */
    text: string;
    /** `undefined` where there is no list of results. */
    items: number | undefined;
    next: NextFound | undefined;
}

/**
 * One page of several: like `readPage`, but nothing is judged before all pages are joined, and `next` is looked for.
 * @param wanted.results dotted path of the list of results
 * @throws InvalidResponse
 */
export function readPart(
    page: RawPage,
    rules: ResponseRules,
    { results, next }: { results: string; next: string | undefined },
    parse: ParseBody = parsePlain,
    { isMeasured = false }: { isMeasured?: boolean } = {},
): Part {
    if (isBodyless(page)) return { text: '{}', items: undefined, next: undefined };
    const parsed = parse(textOf(page), page);
    const found = next === undefined ? undefined : parsed.next(next);
    if (found !== undefined) refuseLongNext(found);
    const data = wrapResult(parsed.value(rules));
    if (isMeasured) refuseTooMuch(data, { isSelected: rules.select !== undefined });
    const text = JSON.stringify(data);
    refuseLength(text);
    return { text, items: resultsAt(data, results)?.length, next: found };
}

/** A cursor is repeated in a URL or a form: a whole page is none. */
const MAX_NEXT = 64 * 1024;

/** @throws InvalidResponse */
function refuseLongNext(found: NextFound): void {
    const fits = 'href' in found ? found.href.length <= MAX_NEXT : fitsInto(found.value, MAX_NEXT);
    if (fits) return;
    const message = `What is found for the next page has more than ${MAX_NEXT} bytes.`;
    throw new InvalidResponse(message, [{ path: '/pagination/next', code: 'INVALID_VALUE', message }]);
}

/**
 * The results of all pages in what the first one said, judged and then cut.
 * @param texts of parts that have a list of results
 * @throws InvalidResponse
 */
export function joinParts(texts: readonly string[], schema: JsonSchema | undefined, wanted: Wanted): Content {
    const [first = {}, ...others] = texts.map((text) => JSON.parse(text) as JsonObject);
    const items = resultsAt(first, wanted.results) ?? [];
    for (const other of others) for (const item of resultsAt(other, wanted.results) ?? []) items.push(item);
    judge(first, schema);
    const truncated = items.length > wanted.most;
    if (truncated) items.length = wanted.most;
    return { text: JSON.stringify(first), results: items.length, isListed: true, truncated };
}

/**
 * Holds `data` against `response.schema`.
 * @throws InvalidResponse
 */
function judge(data: JsonObject, schema: JsonSchema | undefined): void {
    if (schema === undefined) return;
    const verdict = compileJsonSchema(schema)(data);
    if (verdict.ok) return;
    const details = verdict.errors.map(({ path, message, keyword }) => ({ path: harmless(path), message, code: codeOf(keyword) }));
    throw new InvalidResponse('The answer does not fit the response schema of this endpoint.', details);
}

/** @throws InvalidResponse for JSON of more than 10 MiB */
export function refuseLength(text: string): void {
    if (Buffer.byteLength(text) > MAX_OUTPUT) throw new InvalidResponse(TOO_LONG);
}

/** The steps of a pointer are keys of the site's. */
function harmless(pointer: string): string {
    return findSecrets(pointer) === undefined ? pointer : '/[removed]';
}

/** What nests too deep is refused before a text is made of it. */
function textOf(page: RawPage): string {
    if (page.type === 'json' && page.body.length > LARGE && isUtf8(page)) refuseDepth(page.body);
    return decode(page);
}

/** Bytes of a body; looking twice at smaller ones costs more than their text. */
const LARGE = 256 * 1024;

/** JSON and text. HTML is read by `html.ts`, whose libraries are heavy, in threads of its own. */
function parsePlain(text: string, { type }: RawPage): Parsed {
    if (type === 'text') {
        const value = ({ select }: ResponseRules) => {
            if (select !== undefined) throw cannotSelect('/select', 'The answer is text, of which nothing can be selected.');
            return text;
        };
        return { next: () => undefined, value };
    }
    const parsed = parseJson(text);
    return {
        next: (expression) => ({ value: searchJson(parsed, expression, '/pagination/next') }),
        value: ({ select }) => (select === undefined ? parsed : selectJson(parsed, select)),
    };
}

function codeOf(keyword: string): DetailCode {
    if (keyword === 'required') return 'REQUIRED';
    if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties') return 'UNKNOWN_FIELD';
    return keyword === 'type' ? 'INVALID_TYPE' : 'INVALID_VALUE';
}
