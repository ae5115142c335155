import type { App } from '../../shared/app.ts';
import type { OAuthClientDeleted, OAuthClientEntry, OAuthClientOrder } from '../../shared/contracts/oauth.ts';
import type { SiteParams } from '../../shared/contracts/schemas.ts';
import { originsOf } from '../../shared/domain/connections/oauth-clients.ts';
import { readSite } from '../../shared/domain/site/read-site.ts';
import { requireExternalKeyRing } from '../../shared/fetch/choose-connection.ts';
import { findLatestOffer } from '../../shared/fetch/latest-offer.ts';
import { invalidField, Refusal } from '../../shared/refusals.ts';
import * as store from '../../shared/store/connections/oauth.ts';
import { byCall } from '../auth/caller.ts';
import type { Call, Reply } from '../call.ts';

/** PUT /v1/oauth-clients/{site} */
export async function putClient(call: Call<SiteParams, object, OAuthClientOrder>): Promise<Reply<OAuthClientEntry>> {
    const { app, params, body, caller } = call;
    requireExternalKeyRing(app);
    const { site, registrable } = readSite(params.site, '/site');
    const { workspaceId } = caller;
    const known = originsOf((await findLatestOffer(app, { site, registrable }))?.auth ?? []);
    // If no version names the token endpoint yet, the first consent binds it.
    const origins = known.length === 0 ? undefined : known;
    const client = { clientId: body.client_id, clientSecret: body.client_secret, origins };
    if (!(await store.putClient(app, { workspaceId, site }, client, byCall(call)))) {
        const message = `This workspace has ${store.MAX_CLIENTS} OAuth clients, which is the limit: delete one.`;
        throw invalidField('', message);
    }
    return { answer: { site, client_id: client.clientId, callback_url: callbackUrl(app) } };
}

/** DELETE /v1/oauth-clients/{site} */
export async function deleteClient(call: Call<SiteParams, object, undefined>): Promise<Reply<OAuthClientDeleted>> {
    const { app, params, caller } = call;
    const { site } = readSite(params.site, '/site');
    const { workspaceId } = caller;
    const isGone = await store.deleteClient(app.db, { workspaceId, site }, byCall(call));
    if (!isGone) throw new Refusal('NOT_FOUND', 'Your workspace has no OAuth client for this site.');
    return { answer: { site, deleted: true } };
}

/** The redirect URI to register at sites. */
export function callbackUrl(app: App): string {
    return `${app.publicUrl()}${store.CALLBACK_PATH}`;
}
