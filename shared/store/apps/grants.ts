import { keyHash, keyPrefix, newSecret } from '../../domain/accounts/api-key.ts';
import type { Scopes } from '../../domain/accounts/scopes.ts';
import { newId } from '../../domain/text/ids.ts';
import { type Columns, countRows, type Db, fromNow, now } from '../../platform/db.ts';
import { retryUntilKnown } from '../../platform/pg-errors.ts';
import { revokeKeys } from '../accounts/revoke-keys.ts';
import { lockAsKeyHolder } from '../accounts/workspaces.ts';
import { setKeyCap } from '../credits/spending.ts';

/** Maximum number of active grants of one user. */
export const MAX_GRANTS = 50;
export const ACCESS_SECONDS = 3600;
/** A grant expires if its refresh token is unused for this long. */
const IDLE = '30 days';
/** Lifetime of an authorization code. Apps exchange it immediately. */
const CODE_LASTS = '60 seconds';

interface NewGrant {
    appId: string;
    /** The name of the grant's key. */
    name: string;
    workspaceId: string;
    userId: string;
    scopes: Scopes;
    /** Maximum number of credits per day (UTC). */
    dayCap: number;
    /** The path for which its tokens are valid. */
    resource: string;
    redirectUri: string;
    /** The S256 code challenge. */
    challenge: string;
}

/** Creates a key, and the code for its first token. The key itself is never usable. Undefined if the user has too many grants. */
export async function addGrant(trx: Db, grant: NewGrant): Promise<{ keyId: string; code: string } | undefined> {
    const { workspaceId, userId, name, scopes, resource } = grant;
    await lockAsKeyHolder(trx, grant);
    const all = trx('app_grants as g').join('api_keys as k', 'k.id', 'g.key_id').where({ 'g.user_id': userId, 'k.revoked_at': null });
    if ((await countRows(all.where('k.expires_at', '>', now(trx)))) >= MAX_GRANTS) return undefined;
    const [keyId, code, unused] = [newId('key'), newSecret('code'), newSecret('access')];
    await trx('api_keys').insert({
        id: keyId,
        workspace_id: workspaceId,
        user_id: userId,
        name,
        hash: keyHash(unused),
        prefix: keyPrefix(unused),
        scopes: JSON.stringify(scopes),
        resource,
        token_expires_at: now(trx),
        expires_at: fromNow(trx, CODE_LASTS),
    });
    await setKeyCap(trx, keyId, grant.dayCap);
    await trx('app_grants').insert({ key_id: keyId, app_id: grant.appId, user_id: userId });
    await trx('app_codes').insert({
        hash: keyHash(code),
        key_id: keyId,
        redirect_uri: grant.redirectUri,
        challenge: grant.challenge,
        expires_at: fromNow(trx, CODE_LASTS),
    });
    return { keyId, code };
}

/** A code or a refresh token with its grant. */
export interface Redeemable {
    keyId: string;
    appId: string;
    resource: string;
    scopes: Scopes;
    /** Whether it was already used. It works only once. */
    isUsed: boolean;
    isOver: boolean;
}

interface Code extends Redeemable {
    redirectUri: string;
    challenge: string;
}

const GRANT = { keyId: 'k.id', appId: 'g.app_id', resource: 'k.resource', scopes: 'k.scopes' } as const;

function redeemable(db: Db, table: 'app_codes' | 'app_refresh_tokens') {
    return db(`${table} as t`).join('api_keys as k', 'k.id', 't.key_id').join('app_grants as g', 'g.key_id', 'k.id');
}

export async function findCode(db: Db, code: string): Promise<Code | undefined> {
    const columns: Columns<Code> = {
        ...GRANT,
        isUsed: db.raw('t.used_at is not null'),
        isOver: db.raw('k.revoked_at is not null or t.expires_at <= app_now()'),
        redirectUri: 't.redirect_uri',
        challenge: 't.challenge',
    };
    return redeemable(db, 'app_codes')
        .where({ 't.hash': keyHash(code) })
        .first(columns);
}

export async function findRefreshToken(db: Db, token: string): Promise<Redeemable | undefined> {
    const columns: Columns<Redeemable> = {
        ...GRANT,
        isUsed: db.raw('t.used_at is not null'),
        isOver: db.raw('k.revoked_at is not null or k.expires_at <= app_now()'),
    };
    return redeemable(db, 'app_refresh_tokens')
        .where({ 't.hash': keyHash(token) })
        .first(columns);
}

/** Marks a code as used. False if it was already used. */
export async function markUsedOnce(db: Db, code: string): Promise<boolean> {
    return (await markUsed(db, 'app_codes', code)) === 1;
}

export interface NextTokens {
    access: string;
    refresh: string;
}

/** Stores the first tokens of a grant. False if the grant has ended. */
export async function storeTokens(db: Db, keyId: string, tokens: NextTokens): Promise<boolean> {
    return db.transaction((trx) => replaceTokens(trx, keyId, tokens));
}

/** How long a renewal is tried again while the database does not answer, in milliseconds. */
const PATIENCE_MS = 2000;

/**
 * Exchanges a refresh token for the next tokens of its grant, in one transaction: it is used if and only if its successor is stored. If
 * the answer to the commit was lost, it is tried again with the same tokens. A second use means that the token leaked, so the grant ends.
 * @param isGone whether the app no longer waits for the answer. Then its token stays as it is, because nobody would receive the successor
 */
export async function renewTokens(
    db: Db,
    { keyId, used }: { keyId: string; used: string },
    tokens: NextTokens,
    isGone: () => boolean,
): Promise<'renewed' | 'ended' | 'gone'> {
    const renew = async (trx: Db, mayBeDone: boolean) => {
        if ((await markUsed(trx, 'app_refresh_tokens', used)) === 0) {
            if (mayBeDone && (await isStored(trx, tokens.refresh))) return 'renewed';
            await revokeGrant(trx, keyId);
            return 'ended';
        }
        if (!(await replaceTokens(trx, keyId, tokens))) return 'ended';
        if (isGone()) throw new AppGone();
        return 'renewed';
    };
    try {
        return await retryUntilKnown(PATIENCE_MS, (mayBeDone) => db.transaction((trx) => renew(trx, mayBeDone)));
    } catch (error) {
        if (error instanceof AppGone) return 'gone';
        throw error;
    }
}

/** Rolls a renewal back. */
class AppGone extends Error {}

function markUsed(db: Db, table: 'app_codes' | 'app_refresh_tokens', secret: string): Promise<number> {
    return db(table)
        .where({ hash: keyHash(secret), used_at: null })
        .update({ used_at: now(db) });
}

async function isStored(db: Db, refresh: string): Promise<boolean> {
    return (
        (await db('app_refresh_tokens')
            .where({ hash: keyHash(refresh) })
            .first('hash')) !== undefined
    );
}

/** Invalidates the previous access token too. False if the grant has ended. */
async function replaceTokens(trx: Db, keyId: string, { access, refresh }: NextTokens): Promise<boolean> {
    const changed = await trx('api_keys')
        .where({ id: keyId, revoked_at: null })
        .where('expires_at', '>', now(trx))
        .update({
            hash: keyHash(access),
            prefix: keyPrefix(access),
            token_expires_at: fromNow(trx, `${ACCESS_SECONDS} seconds`),
            expires_at: fromNow(trx, IDLE),
        });
    if (changed === 0) return false;
    await trx('app_refresh_tokens').insert({ hash: keyHash(refresh), key_id: keyId });
    return true;
}

/** Ends a grant. Takes effect within a second in every process. */
export async function endGrant(db: Db, keyId: string): Promise<void> {
    await db.transaction((trx) => revokeGrant(trx, keyId));
}

async function revokeGrant(trx: Db, keyId: string): Promise<void> {
    await revokeKeys(trx, (keys) => keys.where({ id: keyId }), 'revoked');
}

export async function endGrantOf(db: Db, token: string, appId: string | undefined): Promise<void> {
    const hash = keyHash(token);
    const grant = await db('app_grants as g')
        .join('api_keys as k', 'k.id', 'g.key_id')
        .where((is) => is.where({ 'k.hash': hash }).orWhereIn('k.id', db('app_refresh_tokens').where({ hash }).select('key_id')))
        .where(appId === undefined ? {} : { 'g.app_id': appId })
        .first({ keyId: 'k.id' });
    if (grant !== undefined) await endGrant(db, grant.keyId);
}
