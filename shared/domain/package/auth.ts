import canonicalize from 'canonicalize';
import { getOrMake } from '../get-or-make.ts';
import { isOnDomain } from '../site/site-name.ts';
import type { AuthNeed, Endpoint, JsonObject, OAuthFlow, PackageAuth } from '../types.ts';
import { hostsOfEndpoint } from './hosts.ts';

/** Whether calls of an endpoint take a credential. @param auth the entries of its package */
export function needOf(endpoint: Pick<Endpoint, 'auth'>, auth: readonly PackageAuth[]): AuthNeed {
    if (auth.length === 0) return 'none';
    return endpoint.auth ?? 'required';
}

/** The terms of a connection: an entry of a package, and the hosts that may receive the credential. */
export interface AuthTerms {
    entry: PackageAuth;
    /** Sorted. */
    hosts: readonly string[];
}

export interface AuthOffer {
    auth: readonly PackageAuth[];
    /** Names of all hosts that the version calls, sorted. */
    hosts: readonly string[];
}

/** The terms that a version offers for the entry with this id; undefined if it has no such entry. */
export function termsOf({ auth, hosts }: AuthOffer, id: string): AuthTerms | undefined {
    const entry = auth.find((one) => one.id === id);
    return entry && { entry, hosts: entry.hosts?.toSorted() ?? hosts };
}

/** The fields that decide where and how a credential is sent, without descriptions. */
export function sentBy({ id, type, name, prefix, oauth2 }: PackageAuth): JsonObject {
    const { authorization_url = null, token_url = null, revocation_url = null } = oauth2 ?? {};
    return {
        id,
        type,
        ...(name !== undefined && { name }),
        ...(prefix !== undefined && { prefix }),
        ...(oauth2 !== undefined && { oauth2: { authorization_url, token_url, revocation_url } }),
    };
}

const sentTexts = new WeakMap<PackageAuth, string>();

/** The result of `sentBy` as text. It is cached with the entry, because each call of the package compares it twice. */
function sentText(entry: PackageAuth): string {
    return getOrMake(sentTexts, entry, () => canonicalize(sentBy(entry)) ?? '');
}

export function flowsOf({ oauth2 }: PackageAuth): readonly OAuthFlow[] {
    return oauth2 === undefined ? [] : (oauth2.flows ?? ['authorization_code']);
}

/** Hosts of OAuth URLs that are outside of the package's own domain. An operator has to allow them. */
export function offDomainAuthHosts(auth: readonly PackageAuth[], registrable: string): string[] {
    const urls = auth.flatMap(({ oauth2 }) => [oauth2?.authorization_url, oauth2?.token_url, oauth2?.revocation_url]);
    const hosts = urls.flatMap((url) => (url === undefined ? [] : [new URL(url).hostname]));
    return [...new Set(hosts)].filter((host) => !isOnDomain(host, registrable)).toSorted();
}

/** The changes since the owner agreed that affect this endpoint, one sentence each. Empty: the call may use the connection. */
export function changesOfTerms(agreed: AuthTerms, offered: AuthTerms | undefined, endpoint: Pick<Endpoint, 'url' | 'prepare'>): string[] {
    return changesAt(hostsOfEndpoint(endpoint), agreed, offered);
}

/** Like `changesOfTerms`, for all endpoints. */
export function allChangesOfTerms(agreed: AuthTerms, offered: AuthTerms | undefined): string[] {
    return changesAt(offered?.hosts ?? [], agreed, offered);
}

function changesAt(hosts: readonly string[], agreed: AuthTerms, offered: AuthTerms | undefined): string[] {
    if (offered === undefined) return [`This version has no entry ${agreed.entry.id} in its auth.`];
    const changes: string[] = [];
    if (sentText(offered.entry) !== sentText(agreed.entry))
        changes.push(
            `This version sends the credential in another way: ${describeAuth(offered.entry)} instead of ${describeAuth(agreed.entry)}.`,
        );
    for (const host of hosts) {
        if (offered.hosts.includes(host) && !agreed.hosts.includes(host))
            changes.push(`This version sends the credential to ${host}, which was not agreed to.`);
    }
    return changes;
}

/** The hosts that receive the credential of a call: those that its version declares and that the owner agreed to. */
export function hostsForCall(agreed: AuthTerms, offered: AuthTerms): ReadonlySet<string> {
    return new Set(offered.hosts.filter((host) => agreed.hosts.includes(host)));
}

function describeAuth({ type, name, prefix, oauth2 }: PackageAuth): string {
    if (oauth2 !== undefined) return `${type} of ${oauth2.token_url}`;
    const what = name === undefined ? type : `${type} ${name}`;
    return prefix === undefined ? what : `${what} with the prefix "${prefix}"`;
}
