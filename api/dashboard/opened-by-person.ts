import type { Request } from '@hapi/hapi';

/** Headers of prefetches, in current and older browsers. */
const AHEAD = ['sec-purpose', 'purpose', 'x-moz'];

/**
 * Whether somebody may have gone to this page: a whole tab goes there, now. Not so a page that embeds it, a script that fetches it,
 * a foreign page that sends a tab there without a click, a browser that loads or renders it ahead of its reader, and anyone who asks for
 * its head alone.
 */
export function isOpenedByPerson({ method, raw }: Request): boolean {
    const { headers } = raw.req;
    const isAhead = AHEAD.some((name) => /prefetch|prerender/i.test(String(headers[name] ?? '')));
    // Browsers that do not say what a page is for are believed to be opened by people.
    const { 'sec-fetch-dest': purpose = 'document', 'sec-fetch-site': from = 'none', 'sec-fetch-user': user } = headers;
    const isForeign = from === 'cross-site' || from === 'same-site';
    return method === 'get' && !isAhead && purpose === 'document' && (!isForeign || user === '?1');
}
