import type { Detail } from '../../refusals.ts';
import { counted } from '../text/counted.ts';
import type { Endpoint } from '../types.ts';

export interface Order {
    endpoint: Endpoint;
    /** Price of one unit at this site in credits: 1, or what the operator set for its registrable domain. */
    siteCredits: number;
    maxCredits?: number | undefined;
    /** The caller's maximum number of results. It can only lower the maximum of the package. */
    maxResults?: number | undefined;
    /** The caller's maximum number of pages. It can only lower the maximum of the package. */
    maxPages?: number | undefined;
    /**
     * Maximum number of billed units, regardless of the endpoint's current definition. For a call that names no version: the minimum of
     * `greatestUnits` over the versions that were the latest within 24 h (docs/api.md, "The registry"). Limits the bill but not the results.
     */
    unitsCap?: number | undefined;
}

export interface Price {
    ok: true;
    /** Price of one request, page or result in credits. */
    unit: number;
    /** Number of units to hold, which is the maximum that the call can be billed. `unit * maxUnits` is `credits_max` of a dry run. */
    maxUnits: number;
    /** Units of work that the whole hold pays for. It exceeds `maxUnits` only if `unitsCap` limits the bill. */
    workUnits: number;
}

type Pricing = Price | { ok: false; problem: Detail };

/** The maximum cost of a call (docs/api.md, "Credits"), regardless of the balance. A `max_credits` below one unit is refused. */
export function priceOrder(order: Order): Pricing {
    const { siteCredits: unit, maxCredits } = order;
    if (maxCredits !== undefined && maxCredits < unit) {
        const message = `One unit of this endpoint costs ${counted(unit, 'credit')}; max_credits must be at least that.`;
        return { ok: false, problem: { path: '/max_credits', code: 'INVALID_VALUE', message } };
    }
    const workUnits = greatestUnits(order.endpoint, order.maxResults, order.maxPages);
    const maxUnits = Math.min(workUnits, order.unitsCap ?? workUnits);
    const bought = maxCredits === undefined || unit === 0 ? maxUnits : Math.floor(maxCredits / unit);
    return bought < maxUnits ? { ok: true, unit, maxUnits: bought, workUnits: bought } : { ok: true, unit, maxUnits, workUnits };
}

/**
 * The maximum number of units that one call can be billed. It is the number of results if the endpoint bills results (its pages are then
 * free), otherwise the number of pages for `paginate`, otherwise 1, because a caller sees the pages of other kinds as one request. There
 * are never more pages than results, because a page without items is not billed.
 */
export function greatestUnits(endpoint: Endpoint, maxResults?: number, maxPages?: number): number {
    const results = resultLimit(endpoint, maxResults);
    return endpoint.billing.unit === 'result'
        ? results
        : Math.min(endpoint.kind === 'paginate' ? pageLimit(endpoint, maxPages) : 1, results);
}

/** The limits of the worker when `units` of the price are held. These are fewer than `maxUnits` if the balance was too low. */
export function limitsFor(
    { endpoint, maxResults, maxPages }: Pick<Order, 'endpoint' | 'maxResults' | 'maxPages'>,
    price: Price,
    units: number,
): { maxResults: number; maxPages: number } {
    const paid = units >= price.maxUnits ? price.workUnits : units;
    const results = resultLimit(endpoint, maxResults);
    const pages = pageLimit(endpoint, maxPages);
    if (endpoint.billing.unit === 'result') return { maxResults: Math.min(results, paid), maxPages: pages };
    if (endpoint.kind !== 'paginate') return { maxResults: results, maxPages: pages };
    // Each billed page contains a result. So if the number of results is the stricter limit, the walk may still pass empty pages.
    return { maxResults: results, maxPages: paid >= Math.min(pages, results) ? pages : paid };
}

/** Whether these limits are below those that the package and the caller ask for. */
export function isCut(
    limits: { maxResults: number; maxPages: number },
    { endpoint, maxResults, maxPages }: Pick<Order, 'endpoint' | 'maxResults' | 'maxPages'>,
): boolean {
    return limits.maxResults < resultLimit(endpoint, maxResults) || limits.maxPages < pageLimit(endpoint, maxPages);
}

/**
 * The exact cost of a successful call in credits, at most the held amount. `requests` is the number of billed requests: 1, or the number of
 * pages that had items (0 if no page had any). `results` is the number of items delivered. An endpoint that bills results costs nothing if
 * it returns none.
 */
export function costOf(
    endpoint: Endpoint,
    siteCredits: number,
    done: { results: number; requests: number },
    held = Number.POSITIVE_INFINITY,
): number {
    return Math.min(siteCredits * (endpoint.billing.unit === 'result' ? done.results : done.requests), held);
}

function pageLimit({ pagination }: Endpoint, maxPages: number | undefined): number {
    const max = pagination?.maxPages ?? 1;
    return Math.min(max, maxPages ?? max);
}

function resultLimit(endpoint: Endpoint, maxResults: number | undefined): number {
    return Math.min(endpoint.billing.maxResults, maxResults ?? endpoint.billing.maxResults);
}
