import type { Detail } from '../refusals.ts';
import type { Endpoint } from './types.ts';

export interface Order {
    endpoint: Endpoint;
    /** Credits of one unit at this site: 1, or what the operator set for its registrable domain. */
    siteCredits: number;
    /** The caller's spending cap. */
    maxCredits?: number | undefined;
    /** The caller's wish; can only lower the package's. */
    maxResults?: number | undefined;
    /**
     * Credits that this call may cost at most, whatever the endpoint says today: for a call that names no version, the least of
     * `greatestCost` over the versions that were the latest within 24 h. Caps the charge and cuts no result off.
     */
    priceCap?: number | undefined;
}

export interface Price {
    /** Credits of one request, page or result. */
    unit: number;
    /** The greatest number of units that package and caller allow. */
    maxUnits: number;
    /** The greatest possible cost in credits: what is held where the balance allows it, and `credits_max` of a dry run. */
    maxCost: number;
}

export type Pricing = { ok: true; price: Price } | { ok: false; problem: Detail };

/** What a call can cost at most (CONTRACT 2, "Cost"). Refuses a `max_credits` that does not buy one unit. */
export function priceOrder(order: Order): Pricing {
    const unit = order.siteCredits;
    const { maxCredits } = order;
    if (maxCredits !== undefined && maxCredits < unit) {
        const message = `One unit of this endpoint costs ${unit} credits; max_credits has to be at least that.`;
        return { ok: false, problem: { path: '/max_credits', code: 'INVALID_VALUE', message } };
    }
    const wanted = greatestUnits(order.endpoint, order.maxResults);
    const capped = Math.min(unit * wanted, order.priceCap ?? Number.POSITIVE_INFINITY);
    if (maxCredits === undefined || capped <= maxCredits) return { ok: true, price: { unit, maxUnits: wanted, maxCost: capped } };
    const bought = unitsWithin(maxCredits, unit);
    return { ok: true, price: { unit, maxUnits: bought, maxCost: unit * bought } };
}

/** The greatest cost of an endpoint in credits when the caller sets no limit: the `credits_max` of catalog and price guard. */
export function greatestCost(endpoint: Endpoint, siteCredits: number): number {
    return siteCredits * greatestUnits(endpoint, undefined);
}

/**
 * How far the worker may go on what was held: `held` credits are `price.maxCost`, or fewer whole units where the balance was
 * short. Pages of a result endpoint are free, so only its results are bounded by the hold.
 */
export function limitsFor(
    { endpoint, maxResults }: Pick<Order, 'endpoint' | 'maxResults'>,
    price: Price,
    held: number,
): { maxResults: number; maxPages: number } {
    const units = held >= price.maxCost ? price.maxUnits : unitsWithin(held, price.unit);
    const results = resultLimit(endpoint, maxResults);
    const pages = endpoint.pagination?.maxPages ?? 1;
    if (endpoint.billing.unit === 'result') return { maxResults: Math.min(results, units), maxPages: pages };
    // Only pages with items are billed, and each brings at least one result: `results` billed pages never need more than the hold,
    // so a walk that is bounded by its results alone may still pass over empty pages.
    return { maxResults: results, maxPages: units >= Math.min(pages, results) ? pages : units };
}

/**
 * The exact cost of a success in credits. `requests` are the billed ones: 1, or the pages that had items (0 for a walk without
 * any); `results` the items delivered. No results of a `result` endpoint cost nothing. Never charge more than was held.
 */
export function costOf(endpoint: Endpoint, siteCredits: number, done: { results: number; requests: number }): number {
    return siteCredits * (endpoint.billing.unit === 'result' ? done.results : done.requests);
}

function greatestUnits(endpoint: Endpoint, maxResults: number | undefined): number {
    const results = resultLimit(endpoint, maxResults);
    if (endpoint.billing.unit === 'result') return results;
    return endpoint.pagination === undefined ? 1 : Math.min(endpoint.pagination.maxPages, results);
}

function resultLimit(endpoint: Endpoint, maxResults: number | undefined): number {
    return Math.min(endpoint.billing.maxResults, maxResults ?? endpoint.billing.maxResults);
}

function unitsWithin(credits: number, unit: number): number {
    return unit === 0 ? Number.MAX_SAFE_INTEGER : Math.floor(credits / unit);
}
