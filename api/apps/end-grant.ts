import type { Request } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import { secretKind } from '../../shared/domain/accounts/api-key.ts';
import { endGrantOf } from '../../shared/store/apps/grants.ts';
import { OAuthFailure } from './oauth-failure.ts';
import { readOAuthForm } from './read-form.ts';

/** POST /oauth/revoke: ends the grant of a token (RFC 7009). An unknown token gets the same answer. @throws OAuthFailure */
export async function endGrantByToken(app: App, request: Request): Promise<void> {
    const { token, client_id: appId } = await readOAuthForm(app, request);
    if (token === undefined) throw new OAuthFailure('invalid_request', 'token is missing.');
    const kind = secretKind(token);
    if (kind === 'access' || kind === 'refresh') await endGrantOf(app.db, token, appId);
}
