import { attach } from '../../shared/domain/connections/attach.ts';
import { createEchoMask, type EchoMask } from '../../shared/domain/connections/echo.ts';
import type { Secret } from '../../shared/domain/connections/secret.ts';
import { type AuthOffer, changesOfTerms, hostsForCall, termsOf } from '../../shared/domain/package/auth.ts';
import type { Endpoint, UpstreamRequest } from '../../shared/domain/types.ts';
import type { UsableConnection } from '../../shared/store/connections/vault.ts';
import { type EgressRules, mayCarrySecrets } from '../egress.ts';
import { UpstreamFault } from '../upstream/failures.ts';

/** A connection with its decrypted secret. */
export interface Opened {
    connection: UsableConnection;
    secret: Secret;
    /** Other secrets to mask in answers, such as refresh tokens. */
    also?: readonly string[];
}

export type CallCredential = ReturnType<typeof createCallCredential>;

/**
 * The credential of one call. Its value is decrypted only when a request is about to be sent, and only that request object contains it.
 * @param parts.open called before each request that carries the value, so that later pages do not use a deleted connection
 */
export function createCallCredential(parts: {
    open: () => Promise<Opened | undefined>;
    offer: AuthOffer;
    endpoint: Endpoint;
    rules: Pick<EgressRules, 'hosts'>;
}) {
    const { open, offer, endpoint, rules } = parts;
    const declared = new Set(offer.auth.flatMap((entry) => entry.hosts ?? offer.hosts));
    let mask: EchoMask | undefined;
    let masked: Secret | undefined;
    const opened = async () => {
        const found = await open().catch((error: unknown) => {
            throw error instanceof UpstreamFault ? error : new UpstreamFault('SERVICE_UNAVAILABLE');
        });
        const offered = found && termsOf(offer, found.connection.authId);
        if (found === undefined || offered === undefined || changesOfTerms(found.connection, offered, endpoint).length > 0) {
            const message = 'The connection of this call was deleted, or does not fit the auth of this version.';
            throw new UpstreamFault('CONNECTION_REQUIRED', message);
        }
        if (masked === undefined && found.also === undefined) mask = sharedMask(found.secret);
        // A renewed token replaces the old one between two pages; answers may still echo the old one.
        else if (JSON.stringify(found.secret) !== JSON.stringify(masked))
            mask = createEchoMask(found.secret, [...(found.also ?? []), ...valuesOf(masked)]);
        masked = found.secret;
        return { ...found, hosts: hostsForCall(found.connection, offered) };
    };
    return {
        /**
         * The request to send, with the credential if its host may receive it.
         * @throws UpstreamFault CONNECTION_REQUIRED if the connection was deleted, or was made for other terms
         */
        async attachTo(request: UpstreamRequest): Promise<{ request: UpstreamRequest; isAttached: boolean }> {
            const url = new URL(request.url);
            if (!declared.has(url.hostname) || !mayCarrySecrets(url, rules)) return { request, isAttached: false };
            const { connection, secret, hosts } = await opened();
            if (!hosts.has(url.hostname)) return { request, isAttached: false };
            return { request: attach(request, connection.entry, secret), isAttached: true };
        },
        /** Removes the value from an answer of the site. */
        maskBytes: (bytes: Uint8Array, contentType: string | undefined): Uint8Array =>
            mask?.bytes(bytes, /[/+]json\b/i.test(contentType ?? '')) ?? bytes,
        maskText: (text: string): string => mask?.text(text) ?? text,
        /** Removes the value from the query of a URL that the site named. @throws UpstreamFault UPSTREAM_REDIRECT if it is elsewhere */
        cleanUrl(url: string): string {
            if (mask === undefined) return url;
            const clean = mask.url(url);
            if (clean === undefined) throw new UpstreamFault('UPSTREAM_REDIRECT', 'The site named a URL that holds the credential.');
            return clean;
        },
    };
}

const masks = new WeakMap<Secret, EchoMask | undefined>();

/** The mask of a secret. Concurrent calls share the mask as long as they share the secret object. */
function sharedMask(secret: Secret): EchoMask | undefined {
    if (!masks.has(secret)) masks.set(secret, createEchoMask(secret));
    return masks.get(secret);
}

function valuesOf(secret: Secret | undefined): string[] {
    return secret !== undefined && 'value' in secret ? [secret.value] : [];
}
