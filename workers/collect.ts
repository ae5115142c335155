import type { Identity } from '../shared/domain/fetch/build-request.ts';
import type { FetchFailure, FetchJob } from '../shared/domain/fetch/call.ts';
import { firstValue, type PagePlace, type PaginationEnd } from '../shared/domain/fetch/pages.ts';
import type { PreparedForm } from '../shared/domain/fetch/prepared-form.ts';
import { escapePointer } from '../shared/domain/json/json-bounds.ts';
import type { Endpoint, Values } from '../shared/domain/types.ts';
import { isLastPage } from './paging/last-page.ts';
import { nextExpression, nextPlace } from './paging/next-place.ts';
import { planPage } from './paging/plan-page.ts';
import { mostSelected } from './select/inline.ts';
import { MAX_OUTPUT } from './select/measure.ts';
import type { WantedPart } from './select/read-page.ts';
import type { Reader, ReadingTurn } from './select/reader.ts';
import type { SiteCall } from './site-call.ts';

/** The result of a call, valid by `response.schema` and cut to the wanted results. */
export interface Collected {
    ok: true;
    /** A JSON object. */
    text: string;
    results: number;
    truncated: boolean;
    /** Pages that had results. */
    pagesWithItems: number;
    /** Whether the site has more results than requested. */
    isMoreLeft: boolean;
    /** Why a walk over pages ended. */
    paginationEnd?: PaginationEnd;
}

export interface Collecting {
    call: SiteCall;
    reader: Reader;
    endpoint: Endpoint;
    values: Values;
    job: FetchJob;
    identity: Identity;
    form: PreparedForm | undefined;
    turn: ReadingTurn;
}

/** Collects the results of one request. */
export async function collectOne({
    call,
    reader,
    endpoint,
    values,
    job,
    identity,
    form,
    turn,
}: Collecting): Promise<Collected | FetchFailure> {
    const request = planPage(endpoint, values, identity, form);
    const answer = await call.send(request, { effect: job.effect, namedBy: namedBy(form) });
    if (!answer.ok) return answer;
    const { billing } = endpoint;
    const reading = await reader.read(answer.page, endpoint, { results: billing.results, most: job.maxResults }, turn);
    if (!reading.ok) return reading;
    if (billing.unit === 'result' && !reading.isListed) return withoutResults(endpoint);
    const { text, results, truncated } = reading;
    return { ok: true, text, results, truncated, pagesWithItems: results === 0 ? 0 : 1, isMoreLeft: false };
}

/**
 * Collects page after page (docs/api.md, "Schema packages"). It stops without a next page, where `pagination.end` says so, at a page it has seen, at a page with the results
 * of the one before, at a status that sites give beyond their last page, or when the requested pages or results are there. The result is
 * the first page with the results of all pages. Any other page that fails fails the whole call.
 */
export async function collectPages({
    call,
    reader,
    endpoint,
    values,
    job,
    identity,
    form,
    turn,
}: Collecting): Promise<Collected | FetchFailure> {
    const texts: string[] = [];
    const { results } = endpoint.billing;
    let items = 0;
    let bytes = 0;
    let pagesWithItems = 0;
    let end: PaginationEnd = 'last';
    let before: string | undefined;
    let place: PagePlace = startOf(endpoint, values);
    const known = new Set<string>();
    const ids: string[] = [];
    let firstItems: number | undefined;
    for (let pages = 1; ; pages++) {
        const request = planPage(endpoint, values, identity, form, pages === 1 ? undefined : place);
        // The first page of links has no place but its URL.
        for (const one of [place, { url: request.url }]) known.add(JSON.stringify(one));
        const answer = await call.send(request, { effect: job.effect, namedBy: 'url' in place ? NEXT_PAGE : namedBy(form) });
        if (!answer.ok && pages > 1 && isBeyondLast(answer)) {
            end = 'status';
            break;
        }
        if (!answer.ok) return pages === 1 ? answer : inMidWalk(answer);
        const { page } = answer;
        // The selected data may be many times larger than the page, and is kept.
        const full = await call.reserve(mostSelected(page.body.length, endpoint.response.select, endpoint.response.type));
        if (full !== undefined) return full;
        const part = await reader.readPart(page, endpoint, wantedOf(endpoint, job, ids), turn);
        if (!part.ok) return part;
        if (part.items === undefined) return withoutResults(endpoint);
        if (before !== undefined && part.fingerprint === before) {
            call.keep(0);
            end = 'repeated';
            break;
        }
        before = part.fingerprint;
        texts.push(part.text);
        const kept = part.kept ?? part.items;
        items += kept;
        ids.push(...(part.ids ?? []));
        bytes += part.bytes;
        call.keep(part.bytes);
        if (kept > 0) pagesWithItems++;
        // `Reader.join` rejects more than this.
        if (bytes > MAX_OUTPUT) break;

        firstItems ??= part.items;
        const { total, isLast } = part;
        const isOver = isLastPage(endpoint, { delivered: items, first: firstItems, here: part.items, total, isLast });
        const link = page.headers['link'];
        const after = isOver
            ? 'none'
            : nextPlace(endpoint, place, {
                  url: page.url,
                  link: Array.isArray(link) ? link.join(', ') : link,
                  found: part.next,
                  items: part.items,
              });
        if (after === 'unusable') return unusableNext();
        if (after === 'none') {
            end = part.items === 0 ? 'empty' : 'last';
            break;
        }
        if (known.has(JSON.stringify(after))) {
            end = 'repeated';
            break;
        }
        if (items >= job.maxResults || pages >= job.maxPages) {
            end = items >= job.maxResults ? 'max_results' : 'max_pages';
            break;
        }
        place = after;
    }
    const joined = await reader.join(texts, endpoint, { results, most: job.maxResults }, bytes, turn);
    if (!joined.ok) return joined;
    const { text, results: delivered, truncated } = joined;
    const isMoreLeft = end === 'max_results' || end === 'max_pages';
    const paginationEnd = endOf(truncated ? 'max_results' : end, endpoint, job);
    return { ok: true, text, results: delivered, truncated, pagesWithItems, isMoreLeft, paginationEnd };
}

function wantedOf(endpoint: Endpoint, { maxResults: most }: FetchJob, known: readonly string[]): WantedPart {
    const { pagination } = endpoint;
    const id = pagination?.unique;
    return {
        next: nextExpression(endpoint),
        results: endpoint.billing.results,
        unique: id === undefined ? undefined : { id, known, most },
        end: pagination?.end,
    };
}

/** Statuses that sites answer beyond their last page. */
const BEYOND_LAST: ReadonlySet<number> = new Set([400, 404, 416]);

function isBeyondLast({ code, upstream }: FetchFailure): boolean {
    return code === 'UPSTREAM_STATUS' && BEYOND_LAST.has(upstream?.status ?? 0);
}

/** Credits bound the results of an endpoint that bills these, and else the pages. */
function endOf(end: PaginationEnd, { billing }: Endpoint, { isCutByCredits }: FetchJob): PaginationEnd {
    const bound: PaginationEnd = billing.unit === 'result' ? 'max_results' : 'max_pages';
    return isCutByCredits === true && end === bound ? 'credits' : end;
}

const NEXT_PAGE = 'The next page leads';

function namedBy(form: PreparedForm | undefined): string | undefined {
    return form === undefined ? undefined : 'The form of the page leads';
}

function startOf({ pagination }: Endpoint, values: Values): PagePlace {
    return { value: pagination === undefined ? undefined : firstValue(pagination, values) };
}

/** A later page was not the first request: running out of time then is the site's timeout. */
function inMidWalk(failure: FetchFailure): FetchFailure {
    return failure.code === 'DEADLINE_EXCEEDED' ? { ...failure, code: 'UPSTREAM_TIMEOUT' } : failure;
}

/** Endpoints that are billed by result, or paginated, must have results. */
function withoutResults({ billing: { results } }: Endpoint): FetchFailure {
    return {
        ok: false,
        code: 'UPSTREAM_INVALID_RESPONSE',
        message: 'The answer has no list of results where the schema says.',
        details: [
            { path: `/${results.split('.').map(escapePointer).join('/')}`, code: 'INVALID_TYPE', message: 'There is no array here.' },
        ],
    };
}

function unusableNext(): FetchFailure {
    const message = 'What is found for the next page is no text or number that a URL or a form can hold.';
    return {
        ok: false,
        code: 'UPSTREAM_INVALID_RESPONSE',
        message,
        details: [{ path: '/pagination/next', code: 'INVALID_TYPE', message }],
    };
}
