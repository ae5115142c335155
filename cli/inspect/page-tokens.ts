import type { CheerioAPI } from 'cheerio';
import type { Extract } from '../../shared/domain/types.ts';
import type { Exchange } from './exchange.ts';
import { isFixed } from './form-facts.ts';
import { isProgramWord } from './harmless.ts';
import { hashOf } from './values.ts';

/** Where a token comes from: the page, and what `prepare` extracts from it. */
export interface TokenSource {
    page: string;
    extract: Extract;
}

/** Sources by the hash of their token. If several pages had it, the last one is kept. Its size is bounded. */
export type TokenSources = Map<number, TokenSource>;

/** Headers that a package may fill with a token of a page (docs/api.md, "Schema packages"). */
const HEADERS = ['x-csrf-token', 'x-csrftoken', 'x-xsrf-token'] as const;
const MAX_SOURCES = 2000;
const MAX_META = 20;
const MIN_LENGTH = 8;

/** Elements of a page that contain a CSRF token, with the hash of the token. */
export function tokensOf($: CheerioAPI): { selector: string; hash: number }[] {
    const found = $('meta[name*="csrf" i][content], meta[name*="xsrf" i][content]').toArray().slice(0, MAX_META);
    return found.flatMap((element) => {
        const { name = '', content = '' } = element.attribs;
        const token = content.trim();
        return !isProgramWord(name) || token.length < MIN_LENGTH ? [] : [{ selector: `meta[name="${name}"]`, hash: hashOf(token) }];
    });
}

/** Adds the tokens of a page, if all visitors see it at the same address. */
export function addTokenSources(sources: TokenSources, tokens: readonly { selector: string; hash: number }[], url: URL): void {
    if (!isFixed(url)) return;
    for (const { selector, hash } of tokens)
        if (sources.has(hash) || sources.size < MAX_SOURCES)
            sources.set(hash, { page: `${url.origin}${url.pathname}`, extract: { selector, value: 'content' } });
}

/** The headers of a request whose token came from a page or a cookie of the site, as names and sources. */
export function preparedHeaders({ url, requestHeaders }: Exchange, sources: TokenSources): [name: string, source: TokenSource][] {
    return HEADERS.flatMap((name): [string, TokenSource][] => {
        const token = requestHeaders.get(name)?.trim() ?? '';
        if (token.length < MIN_LENGTH) return [];
        const source = sources.get(hashOf(token)) ?? ofCookie(token, url, requestHeaders);
        return source === undefined ? [] : [[name, source]];
    });
}

/** Scripts send a cookie back as a header. Their page or an earlier one set it. */
function ofCookie(token: string, url: URL, headers: Exchange['requestHeaders']): TokenSource | undefined {
    const pair = (headers.get('cookie') ?? '').split(/;\s*/, 50).find((one) => isSame(one.slice(one.indexOf('=') + 1), token));
    const cookie = pair?.split('=', 1)[0] ?? '';
    if (!isProgramWord(cookie.replace(/^_+/, ''))) return undefined;
    const page = URL.parse(headers.get('referer') ?? '');
    const isUsable = page !== null && page.origin === url.origin && isFixed(page);
    return { page: isUsable ? `${page.origin}${page.pathname}` : `${url.origin}/`, extract: { cookie } };
}

function isSame(written: string, token: string): boolean {
    if (written === token) return true;
    try {
        return decodeURIComponent(written) === token;
    } catch {
        return false;
    }
}
