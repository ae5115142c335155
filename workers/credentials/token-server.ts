import * as oauth from 'openid-client';
import type { OAuthClient } from '../../shared/domain/connections/oauth-clients.ts';
import { type Grant, SECRET_BYTES } from '../../shared/domain/connections/secret.ts';
import { defined } from '../../shared/domain/defined.ts';
import type { PackageAuth } from '../../shared/domain/types.ts';
import { UpstreamFault } from '../upstream/failures.ts';

export type Tokens = Pick<Grant, 'accessToken' | 'refreshToken' | 'expiresAt' | 'scopes'>;

export function openTokenServer({ oauth2 }: PackageAuth, { clientId, clientSecret }: OAuthClient, fetch: oauth.CustomFetch) {
    if (oauth2 === undefined) throw new Error('only an entry of type oauth2 has a token endpoint');
    const { token_url: tokenUrl, authorization_url: authorizationUrl = tokenUrl, revocation_url: revocationUrl } = oauth2;
    const server = {
        issuer: new URL(authorizationUrl).origin,
        authorization_endpoint: authorizationUrl,
        token_endpoint: tokenUrl,
        ...(revocationUrl === undefined ? {} : { revocation_endpoint: revocationUrl }),
    };
    const auth = clientSecret === undefined ? oauth.None() : oauth.ClientSecretBasic(clientSecret);
    const config = new oauth.Configuration(server, clientId, undefined, auth);
    config[oauth.customFetch] = fetch;
    // The guarded fetch decides whether http is allowed.
    oauth.allowInsecureRequests(config);
    return {
        /** @param callbackUrl where the site sent the browser */
        async exchange(callbackUrl: string, { verifier, state }: { verifier: string | undefined; state: string }): Promise<Tokens> {
            const url = new URL(callbackUrl);
            // Issuers are not discovered: the flow names its own token endpoint.
            url.searchParams.delete('iss');
            const checks = { expectedState: state, ...(verifier === undefined ? {} : { pkceCodeVerifier: verifier }) };
            return tokensOf(await oauth.authorizationCodeGrant(config, url, checks));
        },
        refresh: async (refreshToken: string) => tokensOf(await oauth.refreshTokenGrant(config, refreshToken)),
        askAsClient: async (scopes: readonly string[] | undefined) =>
            tokensOf(await oauth.clientCredentialsGrant(config, scopes === undefined ? {} : { scope: scopes.join(' ') })),
        revoke: (token: string) => oauth.tokenRevocation(config, token),
    };
}

/** Tokens that fit into a header, and names of scopes (RFC 6749, appendix A). */
const TOKEN = /^[!-~](?:[ -~]*[!-~])?$/;
const SCOPE = /^[!-~]{1,200}$/;
const MAX_SCOPES = 200;
/** The longest lifetime of a token. Longer ones are cut to it, so that the expiry is a valid date. */
const MAX_SECONDS = 10 * 366 * 86_400;

/** @throws UpstreamFault UPSTREAM_INVALID_RESPONSE for a token that cannot be stored or sent */
function tokensOf(answer: oauth.TokenEndpointResponse): Tokens {
    const { access_token: accessToken, refresh_token: refreshToken, expires_in: expiresIn, scope } = answer;
    const scopes = scope?.split(' ').filter((name) => name !== '');
    const areTokens = [accessToken, refreshToken ?? 'none'].every((token) => token.length <= SECRET_BYTES && TOKEN.test(token));
    const areScopes = scopes === undefined || (scopes.length <= MAX_SCOPES && scopes.every((name) => SCOPE.test(name)));
    if (!areTokens || !areScopes) {
        const message = "The site's token endpoint gave a token or scopes that cannot be used.";
        throw new UpstreamFault('UPSTREAM_INVALID_RESPONSE', message, { isCallers: true });
    }
    const expiresAt = expiresIn === undefined ? undefined : Date.now() + Math.min(expiresIn, MAX_SECONDS) * 1000;
    return defined({ accessToken, refreshToken, expiresAt, scopes });
}

/** Codes of RFC 6749, sections 4.1.2.1 and 5.2. */
const CODES: ReadonlySet<string> = new Set([
    'access_denied',
    'invalid_client',
    'invalid_grant',
    'invalid_request',
    'invalid_scope',
    'server_error',
    'temporarily_unavailable',
    'unauthorized_client',
    'unsupported_grant_type',
    'unsupported_response_type',
]);

/**
 * The RFC 6749 error code of a token endpoint; undefined for any other failure. Unknown codes become `other`, because the site chooses that
 * text and it would appear in logs and messages.
 */
export function refusalCode(error: unknown): string | undefined {
    if (error instanceof oauth.ResponseBodyError) return CODES.has(error.error) ? error.error : 'other';
    if (error instanceof oauth.WWWAuthenticateChallengeError) return 'invalid_client';
    return undefined;
}
