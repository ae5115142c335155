import { isOnDomain } from '../../../shared/domain/site/site-name.ts';
import type { AuthNeed, PackageAuth, PackageDocument, PackageEndpoint } from '../../../shared/domain/types.ts';
import { type AuthMethod, type Granting, keyOfMethod } from '../exchanges/credentials.ts';
import type { Ledger } from '../exchanges/report.ts';
import type { Group } from '../routes/groups.ts';
import { nameEndpoint } from './naming.ts';

/** A package declares at most this many authentication methods. */
const MAX_AUTH = 10;

/**
 * Adds the recorded authentication methods to a draft as `auth`, and marks the endpoints that accept one. Clients often send their
 * credentials to every endpoint. An endpoint therefore requires a credential only if all of its requests had one, and either its origin
 * refused a request without one, or the endpoint writes on an origin where the user signed in. Sites also give session cookies to anonymous
 * visitors, so a cookie counts only if no other credential was sent.
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
    const methods = methodsOf(routes.flatMap(({ group }) => group ?? []));
    if (methods.length === 0) return document;
    const auth = entriesFor(methods, { domain, granting, ledger });
    const keys = new Set(methods.map(keyOfMethod));
    const needs = routes.map(({ endpoint, group }) => ({ endpoint, need: needOf(group, keys, refusing, signedIn) }));
    const hosts = new Set(needs.flatMap(({ endpoint, need }) => (need === 'none' ? [] : hostOf(endpoint))));
    const isNarrow = needs.some(({ endpoint }) => !hosts.has(hostOf(endpoint)));
    return {
        ...document,
        auth: auth.map((entry) => (isNarrow ? { ...entry, hosts: [...hosts].toSorted() } : entry)),
        endpoints: needs.map(({ endpoint, need }) => ({ ...endpoint, auth: need })),
    };
}

/** Authentication methods that requests of the draft used, the most used first. */
function methodsOf(groups: readonly Group[]): AuthMethod[] {
    const uses = new Map<string, { method: AuthMethod; times: number }>();
    for (const { authMethods } of groups) {
        for (const [key, { method, sendings }] of authMethods) uses.set(key, { method, times: (uses.get(key)?.times ?? 0) + sendings });
    }
    const methods = [...uses.values()].sort((one, other) => other.times - one.times).map(({ method }) => method);
    const sure = methods.filter(({ type }) => type !== 'cookie');
    return (sure.length > 0 ? sure : methods).slice(0, MAX_AUTH);
}

function entriesFor(
    methods: readonly AuthMethod[],
    { domain, granting, ledger }: { domain: string; granting: Granting; ledger: Ledger },
): PackageAuth[] {
    const ids = new Set<string>();
    return methods.map((method): PackageAuth => {
        const oauth2 = method.type === 'bearer' ? oauthOf(granting, domain, ledger) : undefined;
        if (oauth2 !== undefined) return { id: nameEndpoint('account', ids), type: 'oauth2', oauth2 };
        const id = nameEndpoint({ bearer: 'token', basic: 'login' }[method.type as string] ?? method.name ?? 'key', ids);
        return { id, ...method };
    });
}

/** The OAuth settings, if tokens are granted on the site's own domain and the recording shows the complete flow. */
function oauthOf({ tokenUrl, authorizationUrl, flows, scopes }: Granting, domain: string, ledger: Ledger): PackageAuth['oauth2'] {
    if (tokenUrl === undefined) return undefined;
    const seen = [...flows].filter((flow) => flow === 'client_credentials' || authorizationUrl !== undefined);
    const isConsent = seen.includes('authorization_code') && authorizationUrl !== undefined;
    const outside = [tokenUrl, ...(isConsent ? [authorizationUrl] : [])].map((url) => new URL(url)).find((url) => !isOurs(url, domain));
    if (outside !== undefined) {
        ledger.notice(
            'auth',
            `its tokens are granted at ${outside.host}, which an operator has to allow; callers use a token of their own`,
        );
        return undefined;
    }
    if (seen.length === 0) {
        ledger.notice('auth', 'its tokens are granted by OAuth, but the consent page was not recorded; callers use a token of their own');
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
    const counts = [...(group?.authMethods ?? [])].flatMap(([key, { sendings }]) => (keys.has(key) ? [sendings] : []));
    if (group === undefined || counts.length === 0) return 'none';
    if (Math.max(...counts) < group.sendings) return 'optional';
    // Writes after signing in belong to an account.
    const isAccountWrite = signedIn.has(group.origin) && group.method !== 'GET' && group.method !== 'HEAD';
    return isAccountWrite || refusing.has(group.origin) ? 'required' : 'optional';
}

function hostOf({ url }: PackageEndpoint): string {
    return URL.parse(url)?.hostname ?? '';
}
