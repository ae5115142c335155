import { setTimeout as pause } from 'node:timers/promises';
import type { CustomFetch } from 'openid-client';
import type { App } from '../../shared/app.ts';
import { originMismatch } from '../../shared/domain/connections/oauth-clients.ts';
import type { Grant } from '../../shared/domain/connections/secret.ts';
import { getOrMake } from '../../shared/domain/get-or-make.ts';
import type { PackageAuth } from '../../shared/domain/types.ts';
import { findClient, isFresh } from '../../shared/store/connections/oauth.ts';
import {
    endStoredGrant,
    readStoredGrant,
    releaseRenewal,
    type StoredGrant,
    storeRenewal,
    takeRenewal,
} from '../../shared/store/connections/renewals.ts';
import { openWithDataKey, type SealedPlace, sealSecret } from '../../shared/store/connections/sealing.ts';
import { UpstreamFault } from '../upstream/failures.ts';
import { openTokenServer, refusalCode, type Tokens } from './token-server.ts';

/** How long before its expiry a token is renewed. */
const SOON_MS = 60_000;
/** How often, and for how long, a process checks whether another process has renewed a grant. */
const LOOK_MS = 100;
const PATIENCE_MS = 30_000;
/** Attempts of a step while the database is unavailable or has no free connection, and the pause between them in milliseconds. */
const TRIES = 3;
const PAUSE_MS = 250;

type Place = SealedPlace & { entry: PackageAuth };

export type Grants = ReturnType<typeof createGrants>;

/** Creates the source of grants of OAuth connections, which renews them. */
export function createGrants(app: App, fetch: CustomFetch) {
    const renewing = new Map<string, Promise<Grant>>();
    return {
        /**
         * Returns the grant with a token that is still valid. If the token must be renewed, one process renews it and the others poll until
         * it is done.
         * @throws UpstreamFault CONNECTION_REQUIRED, UPSTREAM_UNAUTHORIZED, UPSTREAM_UNREACHABLE, UPSTREAM_INVALID_RESPONSE
         */
        async fresh(place: Place, grant: Grant): Promise<Grant> {
            if (isFresh(grant, Date.now(), SOON_MS)) return grant;
            const { connectionId } = place;
            return getOrMake(renewing, connectionId, () =>
                renew(app, fetch, place).finally(() => {
                    renewing.delete(connectionId);
                    app.vault.forgetValue(connectionId);
                }),
            );
        },
        /** Resolves when all renewals have ended: sites issue some refresh tokens only once, and then they are stored. */
        async settled(): Promise<void> {
            await Promise.allSettled(renewing.values());
        },
    };
}

async function renew(app: App, fetch: CustomFetch, place: Place): Promise<Grant> {
    const endsAt = performance.now() + PATIENCE_MS;
    while (performance.now() < endsAt) {
        const { read, grant } = await persistently(() => look(app, place));
        // Another process has renewed it.
        if (isFresh(grant, Date.now(), SOON_MS)) return grant;
        if (await persistently(() => takeRenewal(app.db, read))) {
            const renewed = await renewTaken(app, fetch, place, { read, grant });
            if (renewed !== undefined) return renewed;
        } else {
            await pause(LOOK_MS);
        }
    }
    throw unreachable();
}

interface Held {
    read: StoredGrant;
    grant: Grant;
}

async function look(app: App, place: Place): Promise<Held> {
    const read = await readStoredGrant(app.db, place.connectionId);
    const kept = read && (await openWithDataKey(app.db, app.secrets, place, read.sealed));
    if (read === undefined || kept === undefined || !('grant' in kept)) {
        throw new UpstreamFault('CONNECTION_REQUIRED', 'The connection of this call was deleted or has expired. Connect again.');
    }
    return { read, grant: kept.grant };
}

/** Holds no database connection while the site answers. @returns undefined if the grant was replaced meanwhile */
async function renewTaken(app: App, fetch: CustomFetch, place: Place, held: Held): Promise<Grant | undefined> {
    let tokens: Tokens | undefined;
    try {
        tokens = await ask(app, fetch, place, held.grant);
    } catch (error) {
        return afterFailure(app, held, error);
    }
    if (tokens === undefined) return end(app, held, 'expired');
    const grant = { ...held.grant, ...tokens };
    return (await persistently(() => store(app, place, held.read, grant))) ? grant : undefined;
}

/** @returns undefined if the grant cannot be renewed */
async function ask(app: App, fetch: CustomFetch, { entry, ...place }: Place, grant: Grant): Promise<Tokens | undefined> {
    if (grant.flow === 'client_credentials') return openTokenServer(entry, grant, fetch).askAsClient(grant.scopes);
    const client = await persistently(() => findClient(app, place, grant.clientId));
    if (grant.refreshToken === undefined || client === undefined) return undefined;
    const mismatch = originMismatch(client, place.site, entry);
    if (mismatch !== undefined) throw new UpstreamFault('CONNECTION_REQUIRED', mismatch);
    return openTokenServer(entry, client, fetch).refresh(grant.refreshToken);
}

async function store(app: App, place: Place, read: StoredGrant, grant: Grant): Promise<boolean> {
    const sealed = await sealSecret(app.db, app.secrets, place, { grant });
    const isRenewed = grant.flow === 'client_credentials' || grant.refreshToken !== undefined;
    const expiresAt = isRenewed || grant.expiresAt === undefined ? null : new Date(grant.expiresAt);
    return storeRenewal(app.db, read, { sealed, expiresAt, scopes: grant.scopes });
}

async function afterFailure(app: App, held: Held, error: unknown): Promise<Grant | undefined> {
    const code = refusalCode(error);
    if (code === 'invalid_grant') return end(app, held, 'revoked');
    await persistently(() => releaseRenewal(app.db, held.read));
    if (error instanceof UpstreamFault) throw error;
    if (code !== undefined) {
        const message = `The site's token endpoint answered ${code}.`;
        throw new UpstreamFault('UPSTREAM_UNAUTHORIZED', message, { isCallers: true, status: 401 });
    }
    // While the token endpoint is unavailable, the old token is used until it expires.
    if (isFresh(held.grant, Date.now(), 0)) return held.grant;
    throw unreachable();
}

/** @returns undefined if the grant was replaced meanwhile */
async function end(app: App, { read }: Held, status: 'revoked' | 'expired'): Promise<undefined> {
    const publicUrl = app.publicUrl();
    if (!(await persistently(() => endStoredGrant(app, read, { status, publicUrl })))) return undefined;
    const why = status === 'revoked' ? 'was withdrawn at the site' : 'has expired';
    throw new UpstreamFault('CONNECTION_REQUIRED', `The consent behind this connection ${why}. Connect again.`);
}

function unreachable(): UpstreamFault {
    const message = "The site's token endpoint could not be reached, or its answer holds no token.";
    return new UpstreamFault('UPSTREAM_UNREACHABLE', message, { isCallers: true });
}

/** Retries if the database fails: tokens that a site issues only once must not be lost. */
async function persistently<T>(step: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
        try {
            return await step();
        } catch (error) {
            if (error instanceof UpstreamFault || tries >= TRIES) throw error;
            await pause(PAUSE_MS);
        }
    }
}
