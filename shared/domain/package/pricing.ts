import type { Detail } from '../../refusals.ts';
import { counted } from '../text/counted.ts';
import type { Endpoint } from '../types.ts';

export interface Order {
    endpoint: Endpoint;
    /** Credits of one unit at this site: 1, or what the operator set for its registrable domain. */
    siteCredits: number;
    /** The caller's spending cap in credits. */
    maxCredits?: number | undefined;
    /** The caller's wish; can only lower the package's. */
    maxResults?: number | undefined;
    /** Likewise of pages. */
    maxPages?: number | undefined;
    /**
     * Units that may be billed at most, whatever the endpoint says today: for a call that names no version, the least of
     * `greatestUnits` over the versions that were the latest within 24 h (docs/api.md, "Registry"). Caps the bill and cuts no result off.
     */
    unitsCap?: number | undefined;
}

export interface Price {
    ok: true;
    /** Credits of one request, page or result. */
    unit: number;
    /** Units to hold: the most that the call can be billed. `unit * maxUnits` is `credits_max` of a dry run. */
    maxUnits: number;
    /** Units of work that the whole hold pays for: more than `maxUnits` only where `unitsCap` caps the bill. */
    workUnits: number;
}

export type Pricing = Price | { ok: false; problem: Detail };

/**
 * The highest cost of a call (docs/api.md, "Credits"), without regard to the balance. A `max_credits` below the price of one unit is a
 * problem at `/max_credits`, for a 400.
 */
export function priceOrder(order: Order): Pricing {
    const { siteCredits: unit, maxCredits } = order;
    if (maxCredits !== undefined && maxCredits < unit) {
        const message = `One unit of this endpoint costs ${counted(unit, 'credit')}; max_credits has to be at least that.`;
        return { ok: false, problem: { path: '/max_credits', code: 'INVALID_VALUE', message } };
    }
    const workUnits = greatestUnits(order.endpoint, order.maxResults, order.maxPages);
    const maxUnits = Math.min(workUnits, order.unitsCap ?? workUnits);
    const bought = maxCredits === undefined || unit === 0 ? maxUnits : Math.floor(maxCredits / unit);
    return bought < maxUnits ? { ok: true, unit, maxUnits: bought, workUnits: bought } : { ok: true, unit, maxUnits, workUnits };
}

/**
 * The greatest number of units that one call can be billed: the results of an endpoint that bills them (pages are free then),
 * otherwise the pages of `paginate`, otherwise 1: pages of other kinds are one request to its caller. No more pages than results: a page without items is not billed.
 */
export function greatestUnits(endpoint: Endpoint, maxResults?: number, maxPages?: number): number {
    const results = resultLimit(endpoint, maxResults);
    return endpoint.billing.unit === 'result'
        ? results
        : Math.min(endpoint.kind === 'paginate' ? pageLimit(endpoint, maxPages) : 1, results);
}

/** How far the worker may go when `units` of the price were held: fewer than `maxUnits` where the balance was short. */
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
    // Each billed page brings a result, so where the results are the tighter bound the walk may still pass over empty pages.
    return { maxResults: results, maxPages: paid >= Math.min(pages, results) ? pages : paid };
}

/** Whether these limits are below what package and caller ask for. */
export function isCut(
    limits: { maxResults: number; maxPages: number },
    { endpoint, maxResults, maxPages }: Pick<Order, 'endpoint' | 'maxResults' | 'maxPages'>,
): boolean {
    return limits.maxResults < resultLimit(endpoint, maxResults) || limits.maxPages < pageLimit(endpoint, maxPages);
}

/**
 * The exact cost of a success in credits, never more than was held. `requests` are the billed ones: 1, or the pages that had
 * items (0 for a walk without any); `results` the items delivered. No results of a `result` endpoint cost nothing.
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
    const most = pagination?.maxPages ?? 1;
    return Math.min(most, maxPages ?? most);
}

function resultLimit(endpoint: Endpoint, maxResults: number | undefined): number {
    return Math.min(endpoint.billing.maxResults, maxResults ?? endpoint.billing.maxResults);
}
