import type { Request } from '@hapi/hapi';
import OAuth2Server from '@node-oauth/oauth2-server';
import type { App } from '../../shared/app.ts';
import { secretKind } from '../../shared/domain/accounts/api-key.ts';
import { ACCESS_SECONDS, endGrantOf } from '../../shared/store/apps/grants.ts';
import { AppModel, GRANTS } from './model.ts';
import { OAuthFailure, readOAuthForm } from './read-form.ts';

/** POST /oauth/token: exchanges a code or a refresh token for the grant's next tokens. @throws OAuthFailure */
export async function exchangeToken(app: App, request: Request): Promise<object> {
    const body = await readOAuthForm(app, request);
    const server = new OAuth2Server({
        model: new AppModel(app, {
            resource: body['resource'],
            redirectUri: body['redirect_uri'],
            isGone: () => request.raw.res.destroyed,
        }) as never,
        accessTokenLifetime: ACCESS_SECONDS,
        requireClientAuthentication: { authorization_code: false, refresh_token: false },
        alwaysIssueNewRefreshToken: true,
    });
    // Checked here, because the library would report a missing secret instead.
    const { grant_type: type, code_verifier: verifier } = body;
    if (type === undefined) throw new OAuthFailure('invalid_request', 'grant_type is missing.');
    if (!GRANTS.includes(type)) throw new OAuthFailure('unsupported_grant_type', `grant_type is one of: ${GRANTS.join(', ')}.`);
    if (type === 'authorization_code' && verifier === undefined) throw new OAuthFailure('invalid_request', 'code_verifier is missing.');
    const asked = new OAuth2Server.Request({
        method: 'POST',
        query: {},
        headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '1', 'transfer-encoding': 'chunked' },
        body,
    });
    const answer = new OAuth2Server.Response();
    try {
        await server.token(asked, answer);
    } catch (error) {
        if (!(error instanceof OAuth2Server.OAuthError) || error.name === 'server_error') throw unwrapError(error);
        throw new OAuthFailure(error.name, error.message, error.name === 'invalid_client' ? 401 : 400);
    }
    return answer.body as object;
}

/** The error that the library wrapped, such as a lost database connection. */
function unwrapError(error: unknown): unknown {
    return error instanceof OAuth2Server.OAuthError && 'inner' in error && error.inner instanceof Error ? error.inner : error;
}

/** POST /oauth/revoke: ends the grant of a token (RFC 7009). An unknown token gets the same answer. @throws OAuthFailure */
export async function endGrantByToken(app: App, request: Request): Promise<void> {
    const { token, client_id: appId } = await readOAuthForm(app, request);
    if (token === undefined) throw new OAuthFailure('invalid_request', 'token is missing.');
    const kind = secretKind(token);
    if (kind === 'access' || kind === 'refresh') await endGrantOf(app.db, token, appId);
}
