import { normaliseSite } from '../site/site-name.ts';

/** What a site knows an application by; without a secret it is a public client. */
export interface OAuthClient {
    clientId: string;
    clientSecret?: string | undefined;
}

/** By normalised site. */
export type OAuthClients = ReadonlyMap<string, OAuthClient>;

/** Reads a file of clients; undefined where it has another shape. */
export function readOAuthClients(value: unknown): OAuthClients | undefined {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    const clients = new Map<string, OAuthClient>();
    for (const [written, given] of Object.entries(value)) {
        const name = normaliseSite(written);
        const { client_id: clientId, client_secret: clientSecret } = (given ?? {}) as Record<string, unknown>;
        if (!name.ok || typeof clientId !== 'string' || clientId === '') return undefined;
        if (clientSecret !== undefined && typeof clientSecret !== 'string') return undefined;
        clients.set(name.site, { clientId, clientSecret });
    }
    return clients;
}
