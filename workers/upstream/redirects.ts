import { parseSiteUrl } from '../../shared/domain/site/parse-site-url.ts';
import type { Effect, UpstreamRequest } from '../../shared/domain/types.ts';
import { checkUrl, type EgressRules, type UrlVerdict } from '../egress.ts';
import { type Fault, UpstreamFault } from './failures.ts';

/** Redirects that one call follows (docs/api.md, "Hosted fetch"). */
export const MAX_REDIRECTS = 5;

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const KEEPS_METHOD = new Set([307, 308]);

/** Whether an answer is a redirect: one of the five statuses with a Location header. */
export function isRedirect(status: number, location: string | undefined): location is string {
    return REDIRECTS.has(status) && location !== undefined && location.trim() !== '';
}

/**
 * The request that follows a redirect, with the same checks as the first one. A write is never repeated: 307 and 308 are a fault, the
 * other statuses lead to a GET. A read keeps GET and HEAD, and its body only for 307 and 308.
 * @param location the header as Node decodes it: one character for each byte
 * @throws UpstreamFault UPSTREAM_REDIRECT or EGRESS_DENIED
 */
export function followRedirect(
    sent: UpstreamRequest,
    { status, location }: { status: number; location: string },
    { effect, registrable, rules }: { effect: Effect; registrable: string; rules: EgressRules },
): UpstreamRequest {
    if (KEEPS_METHOD.has(status) && effect === 'write') {
        throw new UpstreamFault('UPSTREAM_REDIRECT', `The site answered a write with ${status}, which asks to send it again.`);
    }
    const url = targetOf(location, sent.url);
    if (url === undefined) throw new UpstreamFault('UPSTREAM_REDIRECT', 'The site redirected to an invalid URL.');
    const refused = refusalOf(url, registrable, rules, 'The site redirected');
    if (refused !== undefined) throw new UpstreamFault(refused.code, refused.message);
    if (KEEPS_METHOD.has(status)) return { ...sent, url: url.href };
    const { 'content-type': _, ...headers } = sent.headers;
    return { method: sent.method === 'HEAD' ? 'HEAD' : 'GET', url: url.href, headers, bodyShown: null };
}

/** Sites send non-ASCII paths as raw UTF-8. */
function targetOf(location: string, base: string): URL | undefined {
    const url = parseSiteUrl(Buffer.from(location, 'latin1').toString('utf8'), base);
    if (url !== undefined) url.hash = '';
    return url;
}

/**
 * Why a URL from the site may not be called: first the name, then scheme and port (docs/api.md, "Error codes"). `undefined`: it may.
 * @param namedBy the beginning of the message
 */
export function refusalOf(url: URL, registrable: string, rules: EgressRules, namedBy: string): Fault | undefined {
    const verdict = checkUrl(url, registrable, rules);
    if (verdict === 'allowed') return undefined;
    const isElsewhere = verdict === 'name' || verdict === 'user-info';
    return { code: isElsewhere ? 'UPSTREAM_REDIRECT' : 'EGRESS_DENIED', message: `${namedBy} ${WHERE[verdict]}.`, isTransient: false };
}

const WHERE: Readonly<Record<Exclude<UrlVerdict, 'allowed'>, string>> = {
    name: 'to another site',
    'user-info': 'to a URL with user info',
    scheme: 'to a scheme or port that may not be reached from here',
    port: 'to a scheme or port that may not be reached from here',
};
