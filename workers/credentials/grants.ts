import type { CustomFetch } from 'openid-client';
import type { App } from '../../shared/app.ts';
import type { Grant } from '../../shared/domain/connections/secret.ts';
import type { PackageAuth } from '../../shared/domain/types.ts';
import type { Db } from '../../shared/platform/db.ts';
import { findClient, isFresh } from '../../shared/store/connections/oauth.ts';
import { openPlaced, type SealedPlace, sealSecret } from '../../shared/store/connections/sealing.ts';
import { endGrant } from '../../shared/store/connections/standing.ts';
import { UpstreamFault } from '../upstream/failures.ts';
import { openTokenServer, refusalCode, type Tokens } from './token-server.ts';

/** A token is renewed so long before it ends, in milliseconds. */
const SOON_MS = 60_000;
const TRIES = 3;

/** Grants of OAuth connections, as calls use them. */
export interface Grants {
    /**
     * The grant with a token that lasts. It is renewed once for all processes: who renews holds the row of the connection.
     * @throws UpstreamFault CONNECTION_REQUIRED, UPSTREAM_UNAUTHORIZED, UPSTREAM_UNREACHABLE
     */
    fresh(place: SealedPlace & { entry: PackageAuth }, grant: Grant): Promise<Grant>;
}

/** Opens the grants of a worker. */
export function createGrants(app: App, fetch: CustomFetch): Grants {
    const renewing = new Map<string, Promise<Grant>>();
    return {
        async fresh(place, grant) {
            if (isFresh(grant, Date.now(), SOON_MS)) return grant;
            const { connectionId } = place;
            const known = renewing.get(connectionId);
            if (known !== undefined) return known;
            const renewal = renew(app, fetch, place).finally(() => renewing.delete(connectionId));
            renewing.set(connectionId, renewal);
            return renewal;
        },
    };
}

/** Tries again while the database has no connection free, as long as nothing was asked of the site. */
async function renew(app: App, fetch: CustomFetch, place: SealedPlace & { entry: PackageAuth }): Promise<Grant> {
    for (let tries = 1; ; tries++) {
        const progress = { isAsked: false };
        try {
            const outcome = await app.db.transaction((trx) => renewLocked(app, trx, fetch, { place, progress }));
            app.vault.forgetValue(place.connectionId);
            if ('fault' in outcome) throw outcome.fault;
            return outcome.grant;
        } catch (error) {
            if (error instanceof UpstreamFault || progress.isAsked || tries >= TRIES) throw error;
        }
    }
}

async function renewLocked(
    app: App,
    trx: Db,
    fetch: CustomFetch,
    { place, progress }: { place: SealedPlace & { entry: PackageAuth }; progress: { isAsked: boolean } },
): Promise<Renewal> {
    const row = await trx('connections').where({ id: place.connectionId }).forUpdate().first('sealed');
    const kept = row && (await openPlaced(trx, app.secrets, place, row.sealed));
    if (kept === undefined || !('grant' in kept)) return gone();
    // Another process was faster.
    if (isFresh(kept.grant, Date.now(), SOON_MS)) return { grant: kept.grant };
    progress.isAsked = true;
    try {
        const tokens = await ask(app, fetch, place, kept.grant);
        if (tokens === undefined) return await end(app, trx, place, 'expired');
        const grant = { ...kept.grant, ...tokens };
        await store(app, trx, place, grant);
        return { grant };
    } catch (error) {
        return afterFailure(app, trx, place, { error, grant: kept.grant });
    }
}

type Renewal = { grant: Grant } | { fault: UpstreamFault };

function gone(): Renewal {
    return { fault: new UpstreamFault('CONNECTION_REQUIRED', 'The connection of this call is gone.') };
}

/** @returns undefined where nothing renews the grant */
async function ask(
    app: App,
    fetch: CustomFetch,
    { entry, ...place }: SealedPlace & { entry: PackageAuth },
    grant: Grant,
): Promise<Tokens | undefined> {
    if (grant.flow === 'client_credentials') return openTokenServer(entry, grant, fetch).askAsClient(grant.scopes);
    const client = await findClient(app, place, grant.clientId);
    if (grant.refreshToken === undefined || client === undefined) return undefined;
    return openTokenServer(entry, client, fetch).refresh(grant.refreshToken);
}

async function store(app: App, trx: Db, place: SealedPlace, grant: Grant): Promise<void> {
    const sealed = await sealSecret(trx, app.secrets, place, { grant });
    const isRenewed = grant.flow === 'client_credentials' || grant.refreshToken !== undefined;
    const expiresAt = isRenewed || grant.expiresAt === undefined ? null : new Date(grant.expiresAt);
    await trx('connections')
        .where({ id: place.connectionId })
        .update({ sealed, expires_at: expiresAt, ...(grant.scopes === undefined ? {} : { scopes: grant.scopes }) });
}

async function afterFailure(app: App, trx: Db, place: SealedPlace, { error, grant }: { error: unknown; grant: Grant }): Promise<Renewal> {
    const code = refusalCode(error);
    if (code === 'invalid_grant') return end(app, trx, place, 'revoked');
    if (code !== undefined) {
        const message = `The site's token endpoint answered ${code.slice(0, 50)}.`;
        return { fault: new UpstreamFault('UPSTREAM_UNAUTHORIZED', message, { isCallers: true, status: 401 }) };
    }
    // While the endpoint is away, the old token may do.
    if (isFresh(grant, Date.now(), 0)) return { grant };
    return { fault: new UpstreamFault('UPSTREAM_UNREACHABLE', "The site's token endpoint could not be reached.", { isCallers: true }) };
}

async function end(app: App, trx: Db, { connectionId }: SealedPlace, status: 'revoked' | 'expired'): Promise<Renewal> {
    await endGrant({ db: trx, secrets: app.secrets }, { connectionId, status }, app.publicUrl());
    const why = status === 'revoked' ? 'was withdrawn at the site' : 'has expired';
    return { fault: new UpstreamFault('CONNECTION_REQUIRED', `The consent behind this connection ${why}: connect again.`) };
}
