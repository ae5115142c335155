import type { CustomFetch } from 'openid-client';
import type { App } from '../../shared/app.ts';
import { originMismatch } from '../../shared/domain/connections/oauth-clients.ts';
import { type Grant, hintOf } from '../../shared/domain/connections/secret.ts';
import { Refusal } from '../../shared/refusals.ts';
import { lockAsKeyHolder } from '../../shared/store/accounts/workspaces.ts';
import { mayAddConnection, TOO_MANY_CONNECTIONS } from '../../shared/store/connections/connections.ts';
import * as store from '../../shared/store/connections/oauth.ts';
import { openWithDataKey, sealSecret } from '../../shared/store/connections/sealing.ts';
import { type DuePoller, type Repeated, runDue, together } from '../repeat.ts';
import { openTokenServer, refusalCode } from './token-server.ts';

const MAX = 16;

/** Exchanges authorization codes for tokens, and revokes the grants of deleted connections. */
export function startConsents(app: App, poller: DuePoller, fetch: CustomFetch): Repeated {
    return together([
        runDue(poller, {
            part: 'consents',
            due: store.FLOW_IS_DUE,
            concurrency: MAX,
            take: () => store.takeDueFlow(app.db),
            run: (flow) => exchange(app, fetch, flow),
            about: ({ site }) => ({ site }),
        }),
        runDue(poller, {
            part: 'revocations',
            due: store.REVOCATION_IS_DUE,
            concurrency: MAX,
            take: () => store.takeRevocation(app.db),
            run: (revocation) => revoke(app, fetch, revocation),
            about: ({ site }) => ({ site }),
        }),
    ]);
}

/** A code works once, so success and failure both end the flow. */
async function exchange(app: App, fetch: CustomFetch, flow: store.Flow): Promise<void> {
    try {
        const kept = await openWithDataKey(app.db, app.secrets, flow, flow.sealed);
        const client = await store.findClient(app, flow, flow.clientId);
        if (kept === undefined || !('value' in kept) || client === undefined) {
            await store.failFlow(app.db, flow, 'The OAuth client of this site was changed in the meantime.');
            return;
        }
        const mismatch = originMismatch(client, flow.site, flow.entry);
        if (mismatch !== undefined) {
            await store.failFlow(app.db, flow, mismatch);
            return;
        }
        const { verifier, state, callbackUrl } = JSON.parse(kept.value) as { verifier: string; state: string; callbackUrl: string };
        const isProven = flow.entry.oauth2?.pkce !== false;
        const server = openTokenServer(flow.entry, client, fetch);
        const tokens = await server.exchange(callbackUrl, { verifier: isProven ? verifier : undefined, state });
        const grant: Grant = { flow: 'authorization_code', clientId: flow.clientId, scopes: flow.scopes, ...tokens };
        const isRenewed = grant.refreshToken !== undefined || grant.expiresAt === undefined;
        const renewed = {
            sealed: await sealSecret(app.db, app.secrets, flow, { grant }),
            scopes: grant.scopes ?? [],
            expiresAt: isRenewed ? null : new Date(grant.expiresAt ?? 0),
            hint: hintOf({ value: grant.accessToken ?? '' }),
        };
        await app.db.transaction(async (trx) => {
            // The person may have left the workspace since.
            await lockAsKeyHolder(trx, flow);
            if (!(await mayAddConnection(trx, flow))) throw new Refusal('PLAN_LIMIT', TOO_MANY_CONNECTIONS);
            await store.finishFlow(trx, flow, renewed);
        });
        app.vault.forget(flow.workspaceId, flow.site);
    } catch (error) {
        if (error instanceof Refusal) return store.failFlow(app.db, flow, error.message);
        const code = refusalCode(error);
        // Error messages may contain text from the site, so only the code is logged.
        app.log.warn({ part: 'consents', site: flow.site, code }, 'an authorization code could not be exchanged for a token');
        const message = code === undefined ? 'The site gave no token.' : `The site gave no token: ${code}.`;
        await store.failFlow(app.db, flow, message);
    }
}

/** Tried once: we delete the token whether or not the site accepts the revocation. */
async function revoke(app: App, fetch: CustomFetch, revocation: store.Revocation): Promise<void> {
    const { entry, site } = revocation;
    const kept = await openWithDataKey(app.db, app.secrets, revocation, revocation.sealed);
    if (kept === undefined || !('grant' in kept)) return;
    const { grant } = kept;
    const client = grant.flow === 'client_credentials' ? grant : await store.findClient(app, revocation, grant.clientId);
    const token = grant.refreshToken ?? grant.accessToken;
    if (client === undefined || token === undefined || originMismatch(client, site, entry) !== undefined) return;
    try {
        await openTokenServer(entry, client, fetch).revoke(token);
    } catch (error) {
        app.log.warn({ part: 'revocations', site, code: refusalCode(error) }, 'a grant could not be revoked at its site');
    }
}
