import { defined } from '../shared/domain/defined.ts';
import { type Continuation, readContinuation, writeContinuation } from '../shared/domain/fetch/continuation.ts';
import type { FailedPage, FetchFailure, FetchJob } from '../shared/domain/fetch/fetch-job.ts';
import { firstValue, type PagePlace, type PaginationEnd } from '../shared/domain/fetch/pages.ts';
import type { Endpoint, Json, Values } from '../shared/domain/types.ts';
import { type Collected, type Collecting, namedBy, withoutResults } from './collect.ts';
import { isLastPage, type NextPlace, nextExpression, nextPlace } from './paging/next-place.ts';
import { planPage } from './paging/plan-page.ts';
import { maxSelected } from './select/inline.ts';
import { DATA_TOO_LARGE, MAX_OUTPUT } from './select/measure.ts';
import type { WantedPart } from './select/read-part.ts';
import type { PartReading } from './select/reader.ts';
import { maxUnpacked } from './select/unpack.ts';
import type { Page } from './upstream.ts';

interface WalkedPage {
    /** Its place, the number of its items that an earlier call delivered, and the fingerprint of the page before it. */
    at: Continuation;
    part: PartReading & { ok: true };
    /** The number of its items without repeats. */
    kept: number;
}

interface Stop {
    end: PaginationEnd;
    /** The page that was not read. */
    next?: Continuation;
    failure?: FetchFailure;
}

/**
 * Collects page after page (docs/api.md, "Schema packages"), from the first page or from the place where an earlier call stopped. The walk
 * stops if there is no next page, if `pagination.end` says so, at an empty later page, at a page that was already read, at a page with the
 * same results as the previous one, at a status that sites answer beyond their last page, or when it has the requested pages or results.
 * The result is the first page with the results of all pages. If a later page fails, the whole call fails; with `partial` the failure only
 * ends the walk.
 */
export async function collectPages(collecting: Collecting): Promise<Collected | FetchFailure> {
    const pages: WalkedPage[] = [];
    let stop = await walk(collecting, pages);
    const { endpoint, job, reader, turn } = collecting;
    for (;;) {
        if (stop.failure !== undefined && !mayAnswer(collecting, pages)) return stop.failure;
        if (pages.length === 0) return emptyResult(endpoint, stop);
        const bytes = pages.reduce((sum, { part }) => sum + part.bytes, 0);
        const wanted = { results: endpoint.billing.results, maxResults: job.maxResults };
        const joined = await reader.join(
            pages.map(({ part }) => part.text),
            endpoint,
            wanted,
            bytes,
            turn,
        );
        if (joined.ok) return joinedPages(collecting, pages, stop, joined);
        const last = pages.at(-1);
        if (last === undefined || !mayAnswer(collecting, pages.slice(0, -1))) return joined;
        // The result is too large with the last page, so this page counts as failed.
        pages.pop();
        stop = { end: 'error', next: last.at, failure: joined };
    }
}

/** Whether the call succeeds with the pages read so far although a page failed. The first page of a walk is required. */
function mayAnswer({ job }: Collecting, pages: readonly WalkedPage[]): boolean {
    return job.partial === true && (pages.length > 0 || job.from !== undefined);
}

async function walk(collecting: Collecting, pages: WalkedPage[]): Promise<Stop> {
    const { call, endpoint, values, job, userAgent, form } = collecting;
    const known = new Set<string>();
    const ids: string[] = [];
    let at = job.from === undefined ? startOf(endpoint, values) : readContinuation(job.from);
    let items = 0;
    let bytes = 0;
    for (;;) {
        const { place } = at;
        const isFirst = pages.length === 0 && job.from === undefined;
        const request = planPage(endpoint, values, userAgent, form, isFirst ? undefined : place);
        // The first page of a walk over links is identified only by its URL.
        for (const one of [place, { url: request.url }]) known.add(JSON.stringify(one));
        const answer = await call.send(request, { effect: job.effect, namedBy: 'url' in place ? NEXT_PAGE : namedBy(form) });
        if (!answer.ok && !isFirst && isBeyondLast(answer)) return { end: 'status' };
        if (!answer.ok) return stopAtFailure(at, isFirst ? answer : inMidWalk(answer));
        const { page } = answer;
        const part = await readOne(collecting, page, { ids, skip: at.skip, left: Math.max(0, job.maxResults - items) });
        if (!part.ok) return stopAtFailure(at, part);
        if (part.items === undefined && part.isNothing === true && !isFirst) return { end: 'empty' };
        if (part.items === undefined) return stopAtFailure(at, withoutResults(endpoint, part.login));
        // If this call continues within a page, an earlier call has already compared it.
        if (at.skip === 0 && at.before !== undefined && part.fingerprint === at.before) {
            call.keep(0);
            return { end: 'repeated' };
        }
        bytes += part.bytes;
        // The earlier pages are the result: `Reader.join` would reject a larger one.
        if (bytes > MAX_OUTPUT && pages.length > 0)
            return stopAtFailure(at, { ok: false, code: 'UPSTREAM_INVALID_RESPONSE', message: DATA_TOO_LARGE, details: [] });
        const kept = part.kept ?? part.items;
        pages.push({ at, part, kept });
        items += kept;
        ids.push(...(part.ids ?? []));
        call.keep(part.bytes);

        const delivered = at.delivered + kept;
        const first = at.first ?? part.items;
        const after = placeAfter(endpoint, place, page, { part, delivered, first, here: part.items });
        if (after === 'unusable') return { end: 'error', failure: unusableNext() };
        if (after === 'none') return { end: part.items === 0 ? 'empty' : 'last' };
        if (known.has(JSON.stringify(after))) return { end: 'repeated' };
        at = { place: after, skip: 0, delivered, first, before: part.fingerprint };
        if (items >= job.maxResults) return { end: 'max_results', next: at };
        if (pages.length >= job.maxPages) return { end: 'max_pages', next: at };
    }
}

/**
 * Reads a page. First reserves memory for its selected data, which may be many times larger than the page. A packed page may become large.
 */
async function readOne(
    { call, reader, endpoint, job, turn }: Collecting,
    page: Page,
    { ids, skip, left }: { ids: readonly string[]; skip: number; left: number },
): Promise<PartReading | FetchFailure> {
    const full = await call.reserve(maxSelected(maxUnpacked(page.body), endpoint.response.select, endpoint.response.type));
    if (full !== undefined) return full;
    const id = endpoint.pagination?.unique;
    const wanted: WantedPart = {
        next: nextExpression(endpoint),
        results: endpoint.billing.results,
        skip,
        unique: id === undefined ? undefined : { id, known: ids, maxIds: job.maxResults, left },
        end: endpoint.pagination?.end,
    };
    return reader.readPart(page, endpoint, wanted, turn);
}

function placeAfter(
    endpoint: Endpoint,
    place: PagePlace,
    page: Page,
    { part, ...walked }: { part: WalkedPage['part']; delivered: number; first: number; here: number },
): NextPlace {
    if (isLastPage(endpoint, { ...walked, total: part.total, isLast: part.isLast })) return 'none';
    const link = page.headers['link'];
    const header = Array.isArray(link) ? link.join(', ') : link;
    return nextPlace(endpoint, place, { url: page.url, link: header, found: part.next, items: walked.here });
}

/** The result of joined pages. If it was cut, the next call continues within the last page. */
function joinedPages(
    { endpoint, job }: Collecting,
    pages: readonly WalkedPage[],
    stop: Stop,
    { text, results, truncated }: { text: string; results: number; truncated: boolean },
): Collected {
    const next = truncated ? placeInLastPage(pages, results) : stop.next;
    return defined<Collected>({
        ok: true,
        text,
        results,
        // Only endpoints of kind `paginate` count each page as a request.
        requests: endpoint.kind === 'paginate' ? pages.filter(({ kept }) => kept > 0).length : 1,
        truncated: truncated || stop.next !== undefined || stop.failure !== undefined,
        paginationEnd: endOf(truncated ? 'max_results' : stop.end, endpoint, job),
        next: next && writeContinuation(next),
        login: pages[0]?.part.login,
        failedPage: truncated ? undefined : toFailedPage(stop.failure),
    });
}

/** The place of the first item of the last page that was cut off. @param results items that are answered */
function placeInLastPage(pages: readonly WalkedPage[], results: number): Continuation | undefined {
    const last = pages.at(-1);
    if (last === undefined) return undefined;
    const before = pages.slice(0, -1).reduce((sum, { kept }) => sum + kept, 0);
    const answered = results - before;
    return { ...last.at, skip: last.at.skip + (last.part.cutAt ?? answered), delivered: last.at.delivered + answered };
}

/** The result of a continued call without a page: the site has no more, or its page failed. */
function emptyResult({ billing }: Endpoint, { end, next, failure }: Stop): Collected {
    const empty = billing.results.split('.').reduceRight<Json>((inner, step) => ({ [step]: inner }), []);
    return defined<Collected>({
        ok: true,
        text: JSON.stringify(empty),
        results: 0,
        requests: 0,
        truncated: failure !== undefined,
        paginationEnd: end,
        next: next && writeContinuation(next),
        failedPage: toFailedPage(failure),
    });
}

function stopAtFailure(at: Continuation, failure: FetchFailure): Stop {
    return { end: 'error', next: at, failure };
}

function toFailedPage(failure: FetchFailure | undefined): FailedPage | undefined {
    if (failure === undefined) return undefined;
    const { code, message, upstream, isCallers } = failure;
    return defined({ code, message, upstream, isCallers });
}

/** Statuses with which sites answer a request beyond their last page. */
const BEYOND_LAST: ReadonlySet<number> = new Set([400, 404, 416]);

function isBeyondLast({ code, upstream }: FetchFailure): boolean {
    return code === 'UPSTREAM_STATUS' && BEYOND_LAST.has(upstream?.status ?? 0);
}

/** Credits limit the results if the endpoint bills per result, otherwise the pages. */
function endOf(end: PaginationEnd, { billing }: Endpoint, { isCutByCredits }: FetchJob): PaginationEnd {
    const bound: PaginationEnd = billing.unit === 'result' ? 'max_results' : 'max_pages';
    return isCutByCredits === true && end === bound ? 'credits' : end;
}

const NEXT_PAGE = 'The next page leads';

function startOf({ pagination }: Endpoint, values: Values): Continuation {
    return { place: { value: pagination === undefined ? undefined : firstValue(pagination, values) }, skip: 0, delivered: 0 };
}

/** After the first request, a missed deadline is the site's timeout. */
function inMidWalk(failure: FetchFailure): FetchFailure {
    return failure.code === 'DEADLINE_EXCEEDED' ? { ...failure, code: 'UPSTREAM_TIMEOUT' } : failure;
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
