import { createHash } from 'node:crypto';
import type { LoginSign } from '../../shared/domain/fetch/login-words.ts';
import { isNullAt, resultsAt, withResults, wrapResult } from '../../shared/domain/fetch/wrap-result.ts';
import { parseExact } from '../../shared/domain/json/exact-numbers.ts';
import type { Json, JsonObject, JsonSchema } from '../../shared/domain/types.ts';
import { refuseLength, validateData } from './check-data.ts';
import { convert } from './convert.ts';
import { InvalidResponse } from './invalid-response.ts';
import { isNothing } from './is-nothing.ts';
import { checkSize, fitsInto } from './measure.ts';
import { type NextFound, type ParseBody, type Parsed, parsePage, type RawPage, type ResponseRules } from './parse-page.ts';
import type { Content, Wanted } from './read-page.ts';
import { withoutRepeats, withSortedKeys } from './unique-items.ts';

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

/** Reads one page of several, and finds the next page. The data is validated when all pages are joined. @throws InvalidResponse */
export function readPart(
    page: RawPage,
    rules: ResponseRules,
    { results, next, unique, skip = 0, end }: WantedPart,
    parse?: ParseBody,
    { isMeasured = false }: { isMeasured?: boolean } = {},
): Part {
    const parsed = parsePage(page, rules, parse);
    if (parsed === undefined) return { text: '{}', items: undefined, isNothing: true, next: undefined };
    const found = next === undefined ? undefined : parsed.next(next);
    if (found !== undefined) refuseLongNext(found);
    const data = wrapResult(parsed.value(rules));
    if (isMeasured) checkSize(data, { isSelected: rules.select !== undefined });
    const items = resultsAt(data, results);
    const open = skip === 0 ? items : items?.slice(skip);
    const fresh = open === undefined || unique === undefined ? undefined : withoutRepeats(open, unique);
    const left = fresh?.items ?? open;
    const text = JSON.stringify(left === undefined || left === items ? data : withResults(data, results, left));
    refuseLength(text);
    return {
        text,
        items: items?.length,
        isNothing: (rules.select === undefined && isNullAt(data, results)) || undefined,
        kept: left?.length,
        cutAt: fresh?.cutAt,
        ids: fresh?.ids,
        fingerprint: fingerprintOf(items),
        next: found,
        login: parsed.login,
        ...endIn(parsed, end),
    };
}

/** The values of `pagination.end` in a page of JSON. A total that is no number of items is ignored, such as -1 for an unknown one. */
function endIn({ json }: Parsed, { total, hasMore }: NonNullable<WantedPart['end']> = NO_END): Pick<Part, 'total' | 'isLast'> {
    if (json === undefined) return {};
    const found = total === undefined ? undefined : json.search(total, '/pagination/end/total');
    const all = typeof found === 'string' && /^\d{1,15}$/.test(found) ? Number(found) : found;
    return {
        total: typeof all === 'number' && all >= 0 ? all : undefined,
        isLast: hasMore !== undefined && saysNo(json.search(hasMore, '/pagination/end/has_more')),
    };
}

/** Sites also write 0 or the text `false`. */
function saysNo(value: Json): boolean {
    return isNothing(value) || convert(value, 'boolean') === false;
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

function refuseLongNext(found: NextFound): void {
    const fits = 'href' in found ? found.href.length <= MAX_NEXT : fitsInto(found.value, MAX_NEXT);
    if (fits) return;
    const message = `The value found for the next page has more than ${MAX_NEXT} bytes.`;
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
