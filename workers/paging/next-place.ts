import { type PagePlace, stepFrom } from '../../shared/domain/fetch/pages.ts';
import { fitsOnLoop } from '../../shared/domain/fetch/validate-params.ts';
import { isExact } from '../../shared/domain/json/exact-numbers.ts';
import { parseSiteUrl } from '../../shared/domain/site/parse-site-url.ts';
import type { Endpoint, Json, Pagination } from '../../shared/domain/types.ts';
import { isNothing } from '../select/is-nothing.ts';
import type { NextFound } from '../select/parse-page.ts';
import { nextLink } from './next-link.ts';

export interface SeenPage {
    /** The URL of the page, after redirects. */
    url: string;
    link: string | undefined;
    /** The value of `pagination.next` in the page. */
    found: NextFound | undefined;
    /** The number of its results. */
    items: number;
}

/** The place of the next page; `none` after the last one; `unusable`: the site's value cannot be sent back. */
export type NextPlace = PagePlace | 'none' | 'unusable';

/** The expression or selector that finds the next page in a page, for endpoints that have one. */
export function nextExpression({ pagination }: Endpoint): string | undefined {
    return pagination?.style === 'cursor' ? pagination.next : undefined;
}

/** The place of the page after `place`, by one of the four styles of docs/api.md, "Schema packages". It may have been read already. */
export function nextPlace(endpoint: Endpoint, place: PagePlace, seen: SeenPage): NextPlace {
    const { pagination } = endpoint;
    if (pagination === undefined) return 'none';
    const { style, step } = pagination;
    if (style === 'link') {
        const url = nextLink(seen.link, seen.url);
        return url === undefined ? 'none' : { url: asSecure(url, seen.url) };
    }
    if (style === 'cursor') return byCursor(endpoint, pagination, seen);
    // Numbered pages do not name the last page: the walk ends at the first one without results.
    if (seen.items === 0 || !('value' in place)) return 'none';
    return byNumber(endpoint, pagination, stepFrom(place.value, step ?? (style === 'offset' ? seen.items : 1)));
}

/** A number outside of the param's schema is beyond the last page. */
function byNumber({ params }: Endpoint, { param }: Pagination, value: Json | undefined): NextPlace {
    if (value === undefined) return 'none';
    const schema = params.find(({ name }) => name === param)?.schema;
    return schema === undefined || fitsOnLoop(schema, value) ? { value } : 'none';
}

function byCursor(endpoint: Endpoint, { param = '' }: Pagination, seen: SeenPage): NextPlace {
    const { found } = seen;
    if (found === undefined) return 'none';
    if ('href' in found) {
        const value = carriedBy(found.href, param);
        return value === undefined ? { url: asSecure(found.href, seen.url) } : { value };
    }
    const { value } = found;
    if (isNothing(value)) return 'none';
    const isBody = endpoint.params.some(({ name, source }) => name === param && source === 'body');
    const isText = typeof value === 'string' || (isExact(value) && !isBody);
    const cursor = isText ? (carriedBy(String(value), param) ?? String(value)) : value;
    return canSend(endpoint, param, cursor) ? { value: cursor } : 'unusable';
}

/** Whether a cursor can be sent as its param. It comes from the site and is not validated. */
function canSend({ bodyFormat, params }: Endpoint, param: string, cursor: Json): boolean {
    const source = params.find(({ name }) => name === param)?.source;
    if (typeof cursor === 'object' && !isExact(cursor)) return source === 'body' && bodyFormat === 'json';
    if (typeof cursor === 'number') return Number.isFinite(cursor);
    if (typeof cursor !== 'string') return true;
    const isStep = cursor === '.' || cursor === '..';
    return cursor.isWellFormed() && !(source === 'path' && isStep);
}

/** The URL, on https if its page is and both have the same host. Sites behind a proxy that ends TLS write http in links to themselves. */
function asSecure(href: string, page: string): string {
    const url = new URL(href);
    const { protocol, host } = new URL(page);
    if (protocol === 'https:' && url.host === host) url.protocol = protocol;
    return url.href;
}

/** The cursor in a URL. Many sites return the whole URL of the next page, or the end of it. */
function carriedBy(text: string, param: string): string | undefined {
    if (!text.includes('?')) return undefined;
    const value = parseSiteUrl(text, 'https://relative.invalid')?.searchParams.get(param) ?? '';
    return value === '' ? undefined : value;
}

interface Walked {
    /** Results of the walk so far, without repeats. */
    delivered: number;
    /** The number of results on the first page, and on this page. */
    first: number;
    here: number;
    /** The total number of results, as stated on this page. */
    total: number | undefined;
    isLast: boolean | undefined;
}

/** Whether `pagination.end` says that no page follows. A walk from the middle of a list never reaches the total. */
export function isLastPage({ pagination }: Endpoint, { delivered, first, here, total, isLast }: Walked): boolean {
    if (isLast === true || (total !== undefined && delivered >= total)) return true;
    return pagination?.end.isShort === true && here < first;
}
