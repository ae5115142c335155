import { isOnDomain } from '../../shared/domain/site/site-name.ts';
import type { AuthNeed, PackageAuth, PackageDocument, PackageEndpoint } from '../../shared/domain/types.ts';
import { type Carried, type Granting, keyOfWay } from './credentials.ts';
import type { Group } from './groups.ts';
import { nameEndpoint } from './naming.ts';
import type { Ledger } from './report.ts';

/** A package says at most so many ways to authenticate. */
const MAX_AUTH = 10;

/**
 * Says in a draft how its recording was authenticated: the ways as `auth`, and which endpoints take one. A program often sends what it has
 * everywhere, so that an endpoint requires a credential only where all of its requests carried one and its origin refused another
 * without, or where it writes and somebody signed in there. A session cookie is given to strangers too: it counts where nothing else was sent.
 */
export function addAuth(
    document: PackageDocument,
    groups: ReadonlyMap<string, Group>,
    {
        domain,
        granting,
        refusing,
        signedIn,
        ledger,
    }: { domain: string; granting: Granting; refusing: ReadonlySet<string>; signedIn: ReadonlySet<string>; ledger: Ledger },
): PackageDocument {
    const routes = document.endpoints.map((endpoint) => ({ endpoint, group: groups.get(endpoint.name) }));
    const ways = waysOf(routes.flatMap(({ group }) => group ?? []));
    if (ways.length === 0) return document;
    const auth = entriesFor(ways, { domain, granting, ledger });
    const keys = new Set(ways.map(keyOfWay));
    const needs = routes.map(({ endpoint, group }) => ({ endpoint, need: needOf(group, keys, refusing, signedIn) }));
    const hosts = new Set(needs.flatMap(({ endpoint, need }) => (need === 'none' ? [] : hostOf(endpoint))));
    const isNarrow = needs.some(({ endpoint }) => !hosts.has(hostOf(endpoint)));
    return {
        ...document,
        auth: auth.map((entry) => (isNarrow ? { ...entry, hosts: [...hosts].toSorted() } : entry)),
        endpoints: needs.map(({ endpoint, need }) => ({ ...endpoint, auth: need })),
    };
}

/** Ways that requests of the draft carried, the most used first. */
function waysOf(groups: readonly Group[]): Carried[] {
    const uses = new Map<string, { way: Carried; times: number }>();
    for (const { carried } of groups) {
        for (const [key, { way, sendings }] of carried) uses.set(key, { way, times: (uses.get(key)?.times ?? 0) + sendings });
    }
    const ways = [...uses.values()].sort((one, other) => other.times - one.times).map(({ way }) => way);
    const sure = ways.filter(({ type }) => type !== 'cookie');
    return (sure.length > 0 ? sure : ways).slice(0, MAX_AUTH);
}

function entriesFor(
    ways: readonly Carried[],
    { domain, granting, ledger }: { domain: string; granting: Granting; ledger: Ledger },
): PackageAuth[] {
    const ids = new Set<string>();
    return ways.map((way): PackageAuth => {
        const oauth2 = way.type === 'bearer' ? oauthOf(granting, domain, ledger) : undefined;
        if (oauth2 !== undefined) return { id: nameEndpoint('account', ids), type: 'oauth2', oauth2 };
        const id = nameEndpoint({ bearer: 'token', basic: 'login' }[way.type as string] ?? way.name ?? 'key', ids);
        return { id, ...way };
    });
}

/** Where tokens are granted, if that is on the site's own domain and the recording tells all of it. */
function oauthOf({ tokenUrl, authorizationUrl, flows, scopes }: Granting, domain: string, ledger: Ledger): PackageAuth['oauth2'] {
    if (tokenUrl === undefined) return undefined;
    const seen = [...flows].filter((flow) => flow === 'client_credentials' || authorizationUrl !== undefined);
    const isConsent = seen.includes('authorization_code') && authorizationUrl !== undefined;
    const outside = [tokenUrl, ...(isConsent ? [authorizationUrl] : [])].map((url) => new URL(url)).find((url) => !isOurs(url, domain));
    if (outside !== undefined) {
        ledger.notice('auth', `its tokens are granted at ${outside.host}, which an operator has to allow: callers bring a token`);
        return undefined;
    }
    if (seen.length === 0) {
        ledger.notice('auth', 'its tokens are granted by OAuth, and the page of the consent was not recorded: callers bring a token');
        return undefined;
    }
    return {
        ...(isConsent ? { authorization_url: authorizationUrl } : {}),
        token_url: tokenUrl,
        ...(scopes.size === 0 ? {} : { scopes: [...scopes].map((name) => ({ name })) }),
        flows: seen.toSorted(),
    };
}

function isOurs({ protocol, hostname }: URL, domain: string): boolean {
    return protocol === 'https:' && isOnDomain(hostname, domain);
}

function needOf(
    group: Group | undefined,
    keys: ReadonlySet<string>,
    refusing: ReadonlySet<string>,
    signedIn: ReadonlySet<string>,
): AuthNeed {
    const counts = [...(group?.carried ?? [])].flatMap(([key, { sendings }]) => (keys.has(key) ? [sendings] : []));
    if (group === undefined || counts.length === 0) return 'none';
    if (Math.max(...counts) < group.sendings) return 'optional';
    // Writes after signing in belong to an account.
    const isAccounts = signedIn.has(group.origin) && group.method !== 'GET' && group.method !== 'HEAD';
    return isAccounts || refusing.has(group.origin) ? 'required' : 'optional';
}

function hostOf({ url }: PackageEndpoint): string {
    return URL.parse(url)?.hostname ?? '';
}
