import type { Endpoint, Json, Pagination, Param, Values } from '../types.ts';

/** Where one page of results stands: at a value of `pagination.param`, or at a URL that the site itself named. */
export type PagePlace = { value: Json | undefined } | { url: string };

/**
 * Why a walk over pages ended: after the last page, at one without results, at one that was there before, at a status that sites answer
 * beyond their last page, at a bound of the package, of the call, or of what the hold pays for,
 * or with a page that failed (`partial`).
 */
export const PAGINATION_ENDS = ['last', 'empty', 'repeated', 'status', 'max_pages', 'max_results', 'credits', 'error'] as const;
export type PaginationEnd = (typeof PAGINATION_ENDS)[number];

/**
 * The value of `pagination.param` for the first page: the caller's or the param's default, else `start` (docs/api.md, "Schema packages"). `undefined`:
 * the first page is told by nothing, as with links, and with cursors that nobody gave.
 */
export function firstValue({ style, param, start }: Pagination, values: Values): Json | undefined {
    if (param === undefined || style === 'link') return undefined;
    if (Object.hasOwn(values, param)) return values[param];
    return style === 'cursor' ? undefined : start;
}

/**
 * An endpoint and its values as they are for the page at `value`. A carrier that the package declares is set; one that it only names
 * in `pagination` is a query param of that name, in place of what the template's own query says of it.
 */
export function atPage(endpoint: Endpoint, values: Values, value: Json | undefined): { endpoint: Endpoint; values: Values } {
    const name = endpoint.pagination?.param;
    if (name === undefined || value === undefined) return { endpoint, values };
    const set = { ...values, [name]: value };
    if (endpoint.params.some((param) => param.name === name)) return { endpoint, values: set };
    const url = withoutPair(endpoint.url, name);
    return { endpoint: { ...endpoint, url, params: [...endpoint.params, carrier(name)] }, values: set };
}

/** The first page of an endpoint that follows pages, as `dry_run` shows it; any other endpoint stays as it is. */
export function atFirstPage(endpoint: Endpoint, values: Values): { endpoint: Endpoint; values: Values } {
    return endpoint.pagination === undefined ? { endpoint, values } : atPage(endpoint, values, firstValue(endpoint.pagination, values));
}

/** The number after `value` by `step`, a number or a text as `value` is; `undefined` where `value` is no whole number. */
export function stepFrom(value: Json | undefined, step: number): Json | undefined {
    const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
    if (typeof number !== 'number' || !Number.isSafeInteger(number + step)) return undefined;
    return typeof value === 'string' ? String(number + step) : number + step;
}

function carrier(name: string): Param {
    const nothing = { schema: undefined, default: undefined, example: undefined };
    return { name, source: 'query', required: false, description: '', ...nothing, style: 'repeat', segments: false };
}

function withoutPair(url: string, name: string): string {
    const place = url.indexOf('?');
    if (place === -1) return url;
    const pairs = url.slice(place + 1).split('&');
    const kept = pairs.filter((pair) => !new URLSearchParams(pair).has(name));
    return kept.length === 0 ? url.slice(0, place) : `${url.slice(0, place)}?${kept.join('&')}`;
}
