import type { Request } from '@hapi/hapi';

/** Headers that mark prefetches, in current and older browsers. */
const AHEAD = ['sec-purpose', 'purpose', 'x-moz'];

/**
 * Whether a person may have opened this page in a tab. False if another page embeds it, a script fetches it, a foreign page opens it
 * without a click, a browser prefetches or prerenders it, or for a HEAD request.
 */
export function isOpenedByPerson({ method, raw }: Request): boolean {
    const { headers } = raw.req;
    const isAhead = AHEAD.some((name) => /prefetch|prerender/i.test(String(headers[name] ?? '')));
    // Older browsers do not send these headers. Their requests count as opened by a person.
    const { 'sec-fetch-dest': purpose = 'document', 'sec-fetch-site': from = 'none', 'sec-fetch-user': user } = headers;
    const isForeign = from === 'cross-site' || from === 'same-site';
    return method === 'get' && !isAhead && purpose === 'document' && (!isForeign || user === '?1');
}
