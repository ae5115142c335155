import OAuth2Server, { type AuthorizationCode, type Client, type RefreshToken, type Token } from '@node-oauth/oauth2-server';
import type { App } from '../../shared/app.ts';
import { newSecret, secretKind } from '../../shared/domain/accounts/api-key.ts';
import { isDocumentId } from '../../shared/domain/apps/describe-app.ts';
import { readResource } from '../../shared/domain/apps/resource.ts';
import { takeAttempts } from '../../shared/store/accounts/attempts.ts';
import { findApp } from '../../shared/store/apps/apps.ts';
import {
    ACCESS_SECONDS,
    endGrant,
    findCode,
    findRefreshToken,
    markUsedOnce,
    type NextTokens,
    type Redeemable,
    renewTokens,
    storeTokens,
} from '../../shared/store/apps/grants.ts';
import { OAuthFailure, tooManyRequests } from './read-form.ts';

/** Apps have no client secret; PKCE and refresh-token rotation authenticate them. */
export const GRANTS = ['authorization_code', 'refresh_token'];

interface ExchangeRequest {
    /** Its `resource` parameter (RFC 8707). */
    resource: string | undefined;
    redirectUri: string | undefined;
    /** Whether the app has closed the connection. */
    isGone: () => boolean;
}

/** What the OAuth library asks about apps, codes and tokens, for one request. */
export class AppModel {
    readonly #app: App;
    readonly #request: ExchangeRequest;
    readonly generateAccessToken = async () => newSecret('access');
    readonly generateRefreshToken = async () => newSecret('refresh');
    readonly getAccessToken = async () => undefined;
    /** The refresh token of this request. The transaction that stores its successor marks it as used. */
    #renewed: string | undefined;

    constructor(app: App, request: ExchangeRequest) {
        this.#app = app;
        this.#request = request;
    }

    async getClient(id: string): Promise<Client | undefined> {
        // An app that registered itself may have been deleted. After this error it registers again.
        if (!isDocumentId(id) && (await findApp(this.#app.db, id)) === undefined) return undefined;
        // The library compares this id with the app that the code or refresh token belongs to.
        return clientOf(id);
    }

    async getAuthorizationCode(authorizationCode: string): Promise<AuthorizationCode | undefined> {
        if (secretKind(authorizationCode) !== 'code') return undefined;
        const found = await this.#redeem(await findCode(this.#app.db, authorizationCode));
        if (found === undefined) return undefined;
        const { redirectUri, challenge: codeChallenge } = found;
        const { redirectUri: given } = this.#request;
        // The library would say invalid_request, against RFC 6749, section 5.2.
        if (given !== undefined && given !== redirectUri)
            throw new OAuth2Server.InvalidGrantError('redirect_uri differs from that of the authorization request');
        // `isOver` already checked the expiry by the database's clock.
        const expiresAt = new Date(Date.now() + 60_000);
        return { ...grantOf(found), authorizationCode, redirectUri, codeChallenge, codeChallengeMethod: 'S256', expiresAt };
    }

    /** Two concurrent requests with the same code mean that one of them stole it, so the grant ends. */
    async revokeAuthorizationCode({ authorizationCode, user }: AuthorizationCode): Promise<boolean> {
        const { db } = this.#app;
        const isFirst = await markUsedOnce(db, authorizationCode);
        if (!isFirst) await endGrant(db, user['keyId']);
        return isFirst;
    }

    async getRefreshToken(refreshToken: string): Promise<RefreshToken | undefined> {
        if (secretKind(refreshToken) !== 'refresh') return undefined;
        const found = await this.#redeem(await findRefreshToken(this.#app.db, refreshToken));
        return found && { ...grantOf(found), refreshToken };
    }

    /** Notes the token, after the rate limit. It is revoked when its successor is stored. */
    async revokeToken({ refreshToken, user }: RefreshToken): Promise<boolean> {
        const retryAfter = await takeAttempts(this.#app.db, [
            ['renewal by grant', user['keyId']],
            ['renewal by grant, day', user['keyId']],
        ]);
        if (retryAfter > 0) {
            throw tooManyRequests('An app can renew its tokens 60 times in 10 minutes and 1,000 times a day.', retryAfter);
        }
        this.#renewed = refreshToken;
        return true;
    }

    /** The consent fixed the scopes: requesting fewer changes nothing, and requesting more is refused. */
    async validateScope(_user: unknown, _client: unknown, scope: string[] | undefined): Promise<string[]> {
        return scope ?? [];
    }

    async saveToken(token: Token, client: Client, user: { keyId: string }): Promise<Token> {
        const tokens = { access: token.accessToken, refresh: token.refreshToken ?? '' };
        if (!(await this.#store(user.keyId, tokens))) throw new OAuth2Server.InvalidGrantError('The grant has ended: sign in again.');
        // The library computes `expires_in` by this process's clock, so the date must come from the same clock.
        return { ...token, accessTokenExpiresAt: new Date(Date.now() + ACCESS_SECONDS * 1000), client, user };
    }

    /** A second use means that the secret leaked, so the grant ends (RFC 9700, section 4.14). */
    async #redeem<Kind extends Redeemable>(found: Kind | undefined): Promise<Kind | undefined> {
        const { db, publicUrl } = this.#app;
        const { resource } = this.#request;
        if (found === undefined || found.isOver) return undefined;
        if (found.isUsed) {
            await endGrant(db, found.keyId);
            return undefined;
        }
        if (resource !== undefined && readResource(resource, publicUrl()) !== found.resource) {
            throw new OAuth2Server.OAuthError('resource differs from the one that the person consented to', {
                code: 400,
                name: 'invalid_target',
            });
        }
        return found;
    }

    /** False if the grant has ended. */
    async #store(keyId: string, tokens: NextTokens): Promise<boolean> {
        const { db } = this.#app;
        if (this.#renewed === undefined) return storeTokens(db, keyId, tokens);
        const end = await renewTokens(db, { keyId, used: this.#renewed }, tokens, this.#request.isGone);
        if (end === 'gone') throw new OAuthFailure('temporarily_unavailable', 'The app closed the connection.', 503);
        return end === 'renewed';
    }
}

function clientOf(id: string): Client {
    return { id, grants: GRANTS };
}

function grantOf({ keyId, appId, scopes }: Redeemable): { client: Client; user: { keyId: string }; scope: string[] } {
    return { client: clientOf(appId), user: { keyId }, scope: [...scopes.effects] };
}
