import type { CheerioAPI } from 'cheerio';
import type { Extract } from '../../../shared/domain/types.ts';
import type { Exchange } from '../exchanges/exchange.ts';
import { isProgramWord, namesCredential } from '../words/harmless.ts';
import { isValueAsKey } from '../words/shape.ts';
import { hashOf } from '../words/values.ts';
import { isFixed } from './form-facts.ts';

/** Where a token comes from: the page, and what `prepare` extracts from it. */
export interface TokenSource {
    page: string;
    extract: Extract;
}

/** Sources by the hash of their token. If several pages had it, the one with the shortest address is kept. Its size is bounded. */
export type TokenSources = Map<number, TokenSource>;

/** Headers that a package may fill with a token of a page (docs/api.md, "Schema packages"). */
const HEADERS = ['x-csrf-token', 'x-csrftoken', 'x-xsrf-token'] as const;
const MAX_SOURCES = 2000;
const MAX_TOKENS = 20;
const MIN_LENGTH = 8;

/** Selectors of a page's CSRF tokens, with hashes of the tokens. Those of forms are in hidden inputs. */
export function tokensOf($: CheerioAPI): { extract: Extract; hash: number }[] {
    const found = $('meta[name*="csrf" i][content], meta[name*="xsrf" i][content], input[type="hidden" i][name][value]')
        .filter((_, { attribs }) => 'content' in attribs || namesCredential(attribs['name'] ?? ''))
        .toArray();
    return found.slice(0, MAX_TOKENS).flatMap(({ tagName, attribs: { name = '', content, value = '' } }) => {
        const token = (content ?? value).trim();
        const extract = { selector: `${tagName}[name="${name}"]`, value: content === undefined ? 'value' : 'content' };
        return !/^[\w.-]{1,64}$/.test(name) || isValueAsKey(name) || token.length < MIN_LENGTH ? [] : [{ extract, hash: hashOf(token) }];
    });
}

/** Adds the tokens of a page, if all visitors see it at the same address. */
export function addTokenSources(sources: TokenSources, tokens: ReturnType<typeof tokensOf>, url: URL): void {
    if (!isFixed(url)) return;
    const page = `${url.origin}${url.pathname}`;
    for (const { extract, hash } of tokens) {
        const known = sources.get(hash);
        if (known === undefined ? sources.size < MAX_SOURCES : page.length <= known.page.length) sources.set(hash, { page, extract });
    }
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
