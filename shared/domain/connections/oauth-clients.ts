import { isObject } from '../json/schema/structure.ts';
import { normaliseSite } from '../site/site-name.ts';
import type { PackageAuth } from '../types.ts';

/** An application registered at a site; without a secret it is a public client. */
export interface OAuthClient {
    clientId: string;
    clientSecret?: string | undefined;
    /** Origins to which the secret may be sent; absent: all that the schema names. */
    origins?: readonly string[] | undefined;
}

/** The origins to which these entries send the secret of a client, sorted. */
export function originsOf(auth: readonly PackageAuth[]): string[] {
    const urls = auth.flatMap(({ oauth2 }) => (oauth2 === undefined ? [] : [oauth2.token_url, oauth2.revocation_url]));
    return [...new Set(urls.filter((url) => url !== undefined).map((url) => new URL(url).origin))].toSorted();
}

/** Why the secret of a client may not be sent to the URLs of an entry, and what to change; undefined if it may. */
export function originMismatch({ origins }: OAuthClient, site: string, entry: PackageAuth): string | undefined {
    if (origins === undefined) return undefined;
    const stray = originsOf([entry]).filter((origin) => !origins.includes(origin));
    if (stray.length === 0) return undefined;
    const change = `if that is right, set the client again with PUT /v1/oauth-clients/${site}, or change OAUTH_CLIENTS`;
    return `The OAuth client for ${site} is for ${origins.join(', ')}, and the schema sends it to ${stray.join(', ')}: ${change}.`;
}

export type OAuthClients = ReadonlyMap<string, OAuthClient>;

export function readOAuthClients(value: unknown): OAuthClients | undefined {
    if (!isObject(value)) return undefined;
    const clients = new Map<string, OAuthClient>();
    for (const [written, given] of Object.entries(value)) {
        const name = normaliseSite(written);
        const { client_id: clientId, client_secret: clientSecret, origins } = (given ?? {}) as Record<string, unknown>;
        if (!name.ok || typeof clientId !== 'string' || clientId === '') return undefined;
        if (clientSecret !== undefined && typeof clientSecret !== 'string') return undefined;
        if (origins !== undefined && !isOrigins(origins)) return undefined;
        clients.set(name.site, { clientId, clientSecret, origins });
    }
    return clients;
}

function isOrigins(value: unknown): value is string[] {
    return Array.isArray(value) && value.every((origin) => typeof origin === 'string' && URL.parse(origin)?.origin === origin);
}
