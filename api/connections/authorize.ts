import type { ServerMetadata } from 'openid-client';
import type { AuthorizeAnswer, AuthorizeOrder } from '../../shared/contracts/oauth.ts';
import { originMismatch, originsOf } from '../../shared/domain/connections/oauth-clients.ts';
import { unknownScopes } from '../../shared/domain/connections/secret.ts';
import { type AuthOffer, type AuthTerms, flowsOf } from '../../shared/domain/package/auth.ts';
import { newId } from '../../shared/domain/text/ids.ts';
import { requireExternalKeyRing } from '../../shared/fetch/choose-connection.ts';
import { invalidField, invalidFields, Refusal } from '../../shared/refusals.ts';
import { addFlow, bindClient, findEnded, hashOfState, MAX_FLOWS, redirectUrls } from '../../shared/store/connections/oauth.ts';
import { sealSecret } from '../../shared/store/connections/sealing.ts';
import type { Call, Reply } from '../call.ts';
import { callbackUrl } from './oauth-clients.ts';
import { chooseTerms, mustFindOffer } from './terms.ts';

/** POST /v1/connections/authorize: starts a code flow with PKCE and a state that works once. */
export async function authorize(call: Call<object, object, AuthorizeOrder>): Promise<Reply<AuthorizeAnswer>> {
    const { app, body } = call;
    const { workspaceId, userId } = call.caller;
    requireExternalKeyRing(app);
    const { site, offer } = await mustFindOffer(app, body.site);
    const terms = consentTerms(offer, body.auth_id);
    const { entry } = terms;
    const wrong = unknownScopes(entry, body.scopes ?? []);
    if (wrong.length > 0) throw invalidFields(wrong);
    const client = await bindClient(app, { workspaceId, site }, originsOf(offer.auth));
    if (client === undefined) {
        const message = `There is no OAuth client for this site: set one with PUT /v1/oauth-clients/${site}.`;
        throw invalidField('/site', message);
    }
    const mismatch = originMismatch(client, site, entry);
    if (mismatch !== undefined) throw invalidField('/site', mismatch);
    const { clientId } = client;
    const redirectUrl = body.redirect_url ?? null;
    if (redirectUrl !== null && !(await redirectUrls(app.db, workspaceId)).includes(redirectUrl)) {
        const message = "This URL is not in the workspace's list of redirect URLs, which the dashboard shows.";
        throw invalidField('/redirect_url', message);
    }
    const scopes = body.scopes ?? entry.oauth2?.scopes?.map(({ name }) => name) ?? [];
    // Loaded with the first consent, since few processes see one.
    const oauth = await import('openid-client');
    const state = oauth.randomState();
    const verifier = oauth.randomPKCECodeVerifier();
    const connectionId = (await findEnded(app.db, { workspaceId, userId, site, authId: entry.id })) ?? newId('con');
    const sealed = await sealSecret(
        app.db,
        app.secrets,
        { workspaceId, connectionId, site },
        { value: JSON.stringify({ verifier, state }) },
    );
    const flow = { workspaceId, userId, connectionId, site, entry, hosts: [...terms.hosts], scopes, clientId, redirectUrl, sealed };
    const expiresAt = await addFlow(app.db, { ...flow, stateHash: hashOfState(state) });
    if (expiresAt === undefined) {
        const message = `You already have ${MAX_FLOWS} pending authorizations. Each expires after ten minutes.`;
        throw new Refusal('RATE_LIMITED', message, { retryAfter: 600 });
    }
    const challenge =
        entry.oauth2?.pkce === false
            ? {}
            : { code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' };
    const parameters = {
        redirect_uri: callbackUrl(app),
        state,
        ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
        ...challenge,
    };
    const config = new oauth.Configuration(serverOf(terms), clientId);
    // This process sends no request to this URL, and people see it before they open it.
    oauth.allowInsecureRequests(config);
    const url = oauth.buildAuthorizationUrl(config, parameters);
    return { answer: { authorize_url: url.href, expires_at: expiresAt.toISOString() } };
}

/** Chooses the OAuth entry. @throws Refusal VALIDATION_ERROR */
function consentTerms(offer: AuthOffer, id: string | undefined): AuthTerms {
    const auth = offer.auth.filter((entry) => flowsOf(entry).includes('authorization_code'));
    if (id !== undefined || auth.length > 0) {
        const terms = chooseTerms(id === undefined ? { ...offer, auth } : offer, id);
        if (auth.includes(terms.entry)) return terms;
    }
    const message =
        "This site's schema has no OAuth entry with the authorization code flow. Store a credential with POST /v1/connections instead.";
    throw invalidField(id === undefined ? '/site' : '/auth_id', message);
}

function serverOf({ entry: { oauth2 } }: AuthTerms): ServerMetadata {
    const { authorization_url: url = '', token_url: tokenUrl = '' } = oauth2 ?? {};
    return { issuer: new URL(url).origin, authorization_endpoint: url, token_endpoint: tokenUrl };
}
