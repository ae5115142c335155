import type { Identity, PreparedForm } from '../shared/domain/build-request.ts';
import type { FetchFailure, FetchJob } from '../shared/domain/fetch.ts';
import { escapePointer } from '../shared/domain/json-bounds.ts';
import { firstValue, type PagePlace } from '../shared/domain/pages.ts';
import type { Endpoint } from '../shared/domain/types.ts';
import { KIND_EXECUTORS } from './kinds/kinds.ts';
import { MAX_OUTPUT } from './select/measure.ts';
import { mostSelected } from './select/most-selected.ts';
import type { Reader, ReadingTurn } from './select/reader.ts';
import type { SiteCall } from './site-call.ts';

/** What a call brought together, valid by `response.schema` and cut to what is wanted. */
export interface Collected {
    ok: true;
    /** A JSON object. */
    text: string;
    results: number;
    truncated: boolean;
    /** Pages that had results. */
    pagesWithItems: number;
    /** The site has more, which nobody asked for or paid for. */
    isMoreLeft: boolean;
}

export interface Collecting {
    call: SiteCall;
    reader: Reader;
    endpoint: Endpoint;
    job: FetchJob;
    identity: Identity;
    form: PreparedForm | undefined;
    turn: ReadingTurn;
}

/** One request and its answer. */
export async function collectOne({ call, reader, endpoint, job, identity, form, turn }: Collecting): Promise<Collected | FetchFailure> {
    const request = KIND_EXECUTORS[endpoint.kind].plan(endpoint, job.values, identity, form);
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
 * Page after page (CONTRACT 3.1, `pagination`), until there is no next one, the same next comes again, the pages or the results that
 * are wanted and paid for are there. Their arrays are joined into what the first page said; a page that fails fails the whole.
 */
export async function collectPages({ call, reader, endpoint, job, identity, form, turn }: Collecting): Promise<Collected | FetchFailure> {
    const { plan, read, next } = KIND_EXECUTORS[endpoint.kind];
    const texts: string[] = [];
    const { results } = endpoint.billing;
    let items = 0;
    let bytes = 0;
    let pagesWithItems = 0;
    let isMoreLeft = false;
    let place: PagePlace = startOf(endpoint, job);
    const known = new Set<string>();
    for (let pages = 1; ; pages++) {
        const request = plan(endpoint, job.values, identity, form, pages === 1 ? undefined : place);
        // The first page of links has no place but its URL.
        for (const one of [place, { url: request.url }]) known.add(JSON.stringify(one));
        const answer = await call.send(request, { effect: job.effect, namedBy: 'url' in place ? NEXT_PAGE : namedBy(form) });
        if (!answer.ok) return pages === 1 ? answer : inMidWalk(answer);
        const { page } = answer;
        // What is read may be many times as large, and is kept.
        const full = await call.makeRoom(mostSelected(page.body.length, endpoint.response.select));
        if (full !== undefined) return full;
        const part = await reader.readPart(page, endpoint, { results, next: read(endpoint) }, turn);
        if (!part.ok) return part;
        if (part.items === undefined) return withoutResults(endpoint);
        texts.push(part.text);
        items += part.items;
        bytes += part.bytes;
        call.keep(part.bytes);
        if (part.items > 0) pagesWithItems++;
        // `Reader.join` refuses: nothing more is asked for.
        if (bytes > MAX_OUTPUT) break;

        const link = page.headers['link'];
        const after = next(endpoint, place, {
            url: page.url,
            link: Array.isArray(link) ? link.join(', ') : link,
            found: part.next,
            items: part.items,
        });
        if (after === 'unusable') return unusableNext();
        if (after === 'none' || known.has(JSON.stringify(after))) break;
        isMoreLeft = pages >= job.maxPages || items >= job.maxResults;
        if (isMoreLeft) break;
        place = after;
    }
    const joined = await reader.join(texts, endpoint, { results, most: job.maxResults }, bytes, turn);
    if (!joined.ok) return joined;
    return { ok: true, text: joined.text, results: joined.results, truncated: joined.truncated, pagesWithItems, isMoreLeft };
}

const NEXT_PAGE = 'The next page leads';

function namedBy(form: PreparedForm | undefined): string | undefined {
    return form === undefined ? undefined : 'The form of the page leads';
}

function startOf({ pagination }: Endpoint, { values }: FetchJob): PagePlace {
    return { value: pagination === undefined ? undefined : firstValue(pagination, values) };
}

/** Of a walk something was sent, so that its time is up there and not before it began. */
function inMidWalk(failure: FetchFailure): FetchFailure {
    return failure.code === 'DEADLINE_EXCEEDED' ? { ...failure, code: 'UPSTREAM_TIMEOUT' } : failure;
}

/** What is billed by the result, or joined, has to have results. */
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
