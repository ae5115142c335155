import { splitOnce } from '../text/split-once.ts';
import type { Endpoint, Json, Pagination, Param, Values } from '../types.ts';

/** The position of one page of results: a value of `pagination.param`, or a URL that the site returned. */
export type PagePlace = { value: Json | undefined } | { url: string };

/**
 * Why a walk over pages ended: after the last page, at an empty page, at a repeated page, at a status that sites return beyond their last
 * page, at a limit of the package, of the call or of the hold, or with a failed page (`partial`).
 */
export const PAGINATION_ENDS = ['last', 'empty', 'repeated', 'status', 'max_pages', 'max_results', 'credits', 'error'] as const;
export type PaginationEnd = (typeof PAGINATION_ENDS)[number];

/**
 * The value of `pagination.param` for the first page: the value of the caller, or the default of the param, or `start` (docs/api.md,
 * "Schema packages"). `undefined`: the first page has no such value, as with links, and with cursors that the caller did not give.
 */
export function firstValue({ style, param, start }: Pagination, values: Values): Json | undefined {
    if (param === undefined || style === 'link') return undefined;
    if (Object.hasOwn(values, param)) return values[param];
    return style === 'cursor' ? undefined : start;
}

/**
 * The endpoint and the values for the page at `value`. If the package declares the param of `pagination`, its value is set. Otherwise
 * `value` becomes a query param of that name and replaces a pair of the template's query with the same name.
 */
export function atPage(endpoint: Endpoint, values: Values, value: Json | undefined): { endpoint: Endpoint; values: Values } {
    const name = endpoint.pagination?.param;
    if (name === undefined || value === undefined) return { endpoint, values };
    const set = { ...values, [name]: value };
    if (endpoint.params.some((param) => param.name === name)) return { endpoint, values: set };
    const url = withoutPair(endpoint.url, name);
    return { endpoint: { ...endpoint, url, params: [...endpoint.params, carrier(name)] }, values: set };
}

/** The first page of an endpoint that follows pages, as `dry_run` shows it. Any other endpoint is returned unchanged. */
export function atFirstPage(endpoint: Endpoint, values: Values): { endpoint: Endpoint; values: Values } {
    return endpoint.pagination === undefined ? { endpoint, values } : atPage(endpoint, values, firstValue(endpoint.pagination, values));
}

/** The number `step` after `value`, as a number or text like `value`; `undefined` if `value` is not a whole number. */
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
    const [base, query] = splitOnce(url, '?');
    const kept = query?.split('&').filter((pair) => !new URLSearchParams(pair).has(name)) ?? [];
    return kept.length === 0 ? base : `${base}?${kept.join('&')}`;
}
