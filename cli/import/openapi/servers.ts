import { isObject, objectOf } from '../../../shared/domain/json/schema/structure.ts';
import { normaliseSite, registrableDomain } from '../../../shared/domain/site/site-name.ts';
import type { Json } from '../../../shared/domain/types.ts';
import type { NotRead } from '../operation.ts';
import { printableName } from '../texts.ts';

/** The base URL of operations, without a trailing slash; or why the document gives none. */
export type Server = { ok: true; base: string; wasHttp: boolean } | NotRead;

/**
 * The best of `servers` that a package can call, with the defaults of its variables: first those on the site's domain, then those with https,
 * then those that are not test servers. `site` replaces a missing host.
 */
export function chooseServer(servers: Json | undefined, site: string | undefined): Server | undefined {
    if (!Array.isArray(servers) || servers.length === 0) return undefined;
    const read = servers.map((server) => ({ server: readServer(server, site), isForTrials: isForTrials(server) }));
    const worth = ({ server, isForTrials }: (typeof read)[number]) => {
        if (!server.ok) return 0;
        const { hostname } = new URL(server.base);
        const isOwn = site !== undefined && (hostname === site || registrableDomain(hostname) === registrableDomain(site));
        return 1 + (isOwn ? 4 : 0) + (server.wasHttp ? 0 : 2) + (isForTrials ? 0 : 1);
    };
    return read.toSorted((a, b) => worth(b) - worth(a))[0]?.server;
}

/** Whether a server is a test server, by its description or a part of its host name. */
function isForTrials(server: Json): boolean {
    const { url, description } = objectOf(server);
    const host = /^[a-z]+:\/\/([^/:]+)/i.exec(String(url))?.[1]?.toLowerCase() ?? '';
    const ownParts = host.slice(0, host.length - (registrableDomain(host) ?? host).length);
    return TRIAL.test(ownParts.replaceAll('_', '-')) || TRIAL.test(typeof description === 'string' ? description.slice(0, 200) : '');
}

const TRIAL = /\b(?:dev|development|mock|preprod|qa|sandbox|stage|staging|test|testing|uat)\b/i;

/** The base URL for a document that names no server. */
export function serverOfSite(site: string | undefined): Server {
    return site === undefined
        ? { ok: false, why: 'The document names no server; name the site with --site.' }
        : { ok: true, base: `https://${site}`, wasHttp: false };
}

function readServer(server: Json, site: string | undefined): Server {
    if (!isObject(server) || typeof server['url'] !== 'string') return { ok: false, why: 'The server has no url.' };
    const variables = objectOf(server['variables']);
    const filled = withScheme(
        server['url'].trim().replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => {
            const variable = variables[name];
            const standard = isObject(variable) ? variable['default'] : undefined;
            return typeof standard === 'string' ? standard : whole;
        }),
    );
    if (/[{}]/.test(filled)) return { ok: false, why: 'A variable of the server has no default.' };
    const isRelative = !/^[a-z][a-z0-9+.-]*:/i.test(filled) && !filled.startsWith('//');
    if (isRelative && site === undefined) return { ok: false, why: 'The server is given without a host; name the site with --site.' };
    const url = URL.parse(filled, `https://${site ?? 'unknown.invalid'}/`);
    if (url === null || !/^https?:$/.test(url.protocol))
        return {
            ok: false,
            why: 'The server is not an http(s) URL; correct it in the document, or remove the servers and name the site with --site.',
        };
    if (url.search !== '' || url.username !== '' || url.password !== '')
        return { ok: false, why: 'The server has a query or a user name in its address.' };
    // Documents of self-hosted programs name localhost or example.com, so the site replaces it.
    if (site !== undefined && (registrableDomain(url.hostname) === undefined || isStandIn(url.hostname, site)))
        return { ok: true, base: `https://${site}${url.pathname.replace(/\/+$/, '')}`, wasHttp: false };
    if (site === undefined && !normaliseSite(url.hostname).ok)
        return { ok: false, why: `${printableName(url.hostname)} is not the name of a public site; name the site with --site.` };
    const wasHttp = url.protocol === 'http:';
    // Plain http with a port is used in tests and at home, so it is kept.
    const scheme = wasHttp && url.port === '' ? 'https:' : url.protocol;
    return { ok: true, base: `${scheme}//${url.host}${url.pathname.replace(/\/+$/, '')}`, wasHttp: wasHttp && url.port === '' };
}

/** An address with its scheme: documents written by hand leave it out, as in `api.shop.dev/v1`. The first segment of a path is not a host. */
function withScheme(url: string): string {
    const host = /^[a-z0-9.-]+\.[a-z]{2,}(?=[:/?#]|$)/i.exec(url)?.[0].toLowerCase();
    return host === undefined || registrableDomain(host) === undefined ? url : `https://${url}`;
}

/** Whether a host is a placeholder for the reader's host (RFC 2606) or for that of a customer. */
function isStandIn(host: string, site: string): boolean {
    const domain = registrableDomain(host);
    if (isOfCustomer(host)) return site !== domain;
    return /^example\.(?:com|net|org)$/.test(domain ?? '') && domain !== registrableDomain(site);
}

/** Whether a part of a host name is a placeholder for the name of a customer: `your-subdomain.okta.com`, `yourcompany.api.com`. */
export function isOfCustomer(host: string): boolean {
    return /(?:^|\.)your[-_]?(?:account|app|company|domain|host|instance|name|org|organi[sz]ation|server|site|store|subdomain|team|tenant|workspace)s?[\w-]*\./i.test(
        host,
    );
}

/** The registrable domain of most base URLs, since an API often has its own host. */
export function siteOfBases(bases: readonly string[]): string | undefined {
    const counts = new Map<string, number>();
    for (const base of bases) {
        const { hostname } = new URL(base);
        const site = registrableDomain(hostname) ?? hostname;
        counts.set(site, (counts.get(site) ?? 0) + 1);
    }
    const best = [...counts].sort(([, a], [, b]) => b - a)[0]?.[0];
    if (best === undefined) return undefined;
    const named = normaliseSite(best);
    return named.ok ? named.site : best;
}
