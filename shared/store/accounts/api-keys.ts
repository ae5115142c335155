import type { Knex } from 'knex';
import { keyHash, keyPrefix, newApiKey } from '../../domain/accounts/api-key.ts';
import { EARLIER_SCOPES, isWider, type Scopes } from '../../domain/accounts/scopes.ts';
import { newId } from '../../domain/text/ids.ts';
import { type Columns, columns, countRows, type Db, definedConditions, fromNow, now } from '../../platform/db.ts';
import type { Secrets } from '../../platform/secrets.ts';
import { setKeyCap } from '../credits/spending.ts';
import { queueMail } from './mails.ts';
import { type RevokedKey, revokeKeys } from './revoke-keys.ts';
import { recordAct } from './workspace-audit.ts';
import { lockAsKeyHolder } from './workspaces.ts';

export interface NewKey {
    keyId: string;
    /** The key itself. It is shown only once and not stored. */
    apiKey: string;
}

interface KeyOrder {
    workspaceId: string;
    userId: string;
    name: string;
    /** In seconds; absent: the key does not expire. */
    expiresIn?: number | undefined;
    scopes?: Scopes | undefined;
}

interface KeyRow extends RevokedKey {
    createdAt: Date;
    expiresAt: Date | null;
    revokedAt: Date | null;
    lastUsedAt: Date | null;
    scopes: Scopes;
    /** The price of a write in credits above which a person has to confirm; null: no confirmation. */
    confirmAbove: number | null;
}

const KEY: Columns<KeyRow> = {
    keyId: 'k.id',
    ...columns('k', 'workspace_id user_id name prefix created_at expires_at revoked_at last_used_at scopes confirm_above'),
};

/** A key in the form that the members of its workspace see. */
export interface ListedKey extends KeyRow {
    /** The mail address of the member who created it. */
    madeBy: string;
    /** Whether it belongs to an app that the member authorized. */
    isGrant: boolean;
    state: 'active' | 'expired' | 'revoked';
}

/** Maximum number of active keys of one workspace. */
export const MAX_KEYS = 100;

/** Creates a key. Unlike `addKey`, it does not check the limit of the workspace. */
export async function createKey(db: Db, { workspaceId, userId, name, expiresIn, scopes }: KeyOrder): Promise<NewKey> {
    const apiKey = newApiKey();
    const keyId = newId('key');
    await db('api_keys').insert({
        id: keyId,
        workspace_id: workspaceId,
        user_id: userId,
        name,
        hash: keyHash(apiKey),
        prefix: keyPrefix(apiKey),
        expires_at: expiresIn === undefined ? null : fromNow(db, `${expiresIn} seconds`),
        scopes: JSON.stringify(scopes ?? EARLIER_SCOPES),
    });
    return { keyId, apiKey };
}

/** Adds a key to a workspace; undefined if it already has too many active keys. */
export async function addKey(db: Db, order: KeyOrder): Promise<NewKey | undefined> {
    return db.transaction(async (trx) => {
        await lockAsKeyHolder(trx, order);
        return (await countActive(trx, order.workspaceId)) >= MAX_KEYS ? undefined : createKey(trx, order);
    });
}

/** All keys of a workspace, including revoked and expired ones, newest first. */
export async function listKeys(db: Db, workspaceId: string): Promise<KeyRow[]> {
    return db('api_keys as k')
        .where({ workspace_id: workspaceId })
        .orderBy([{ column: 'created_at', order: 'desc' }, 'id'])
        .select(KEY);
}

/** Maximum number of keys in a list. Ended keys are kept, so there may be any number of them. */
export const LISTED_KEYS = 1000;

/** Raw: the key has ended. */
const IS_OVER = '(k.revoked_at is not null or coalesce(k.expires_at <= app_now(), false))';

/**
 * The keys of a workspace, active keys first, then newest first; at most 1,000. Two statements, because sorting both kinds together would
 * read all that have ended.
 * @param only limits the list to one member, to one key, or to so many keys that have ended
 */
export async function listedKeys(
    db: Db,
    workspaceId: string,
    { userId, keyId, ended = LISTED_KEYS }: { userId?: string | undefined; keyId?: string; ended?: number } = {},
): Promise<ListedKey[]> {
    const read = async (which: string, limit: number): Promise<ListedKey[]> => {
        const rows: (KeyRow & { madeBy: string; isGrant: boolean; isOver: boolean })[] = await db('api_keys as k')
            .join('users as u', 'u.id', 'k.user_id')
            .where(definedConditions({ 'k.workspace_id': workspaceId, 'k.user_id': userId, 'k.id': keyId }))
            .whereRaw(which)
            .orderBy([{ column: 'k.created_at', order: 'desc' }, 'k.id'])
            .limit(limit)
            .select({ ...KEY, madeBy: 'u.email', isGrant: db.raw('k.resource is not null'), isOver: db.raw(IS_OVER) });
        return rows.map(({ isOver, ...key }) => ({ ...key, state: key.revokedAt !== null ? 'revoked' : isOver ? 'expired' : 'active' }));
    };
    const active = await read(`not ${IS_OVER}`, LISTED_KEYS);
    const left = Math.min(ended, LISTED_KEYS - active.length);
    return left === 0 ? active : [...active, ...(await read(IS_OVER, left))];
}

export async function findKey(db: Db, keyId: string): Promise<KeyRow | undefined> {
    return db('api_keys as k').where({ id: keyId }).first(KEY);
}

/** The hash of a key that this user created in this workspace; undefined for any other key and for the key of an app. */
export async function findKeyHash(
    db: Db,
    { keyId, workspaceId, userId }: { keyId: string; workspaceId: string; userId: string },
): Promise<Buffer | undefined> {
    const found = await key(db, keyId).where({ workspace_id: workspaceId, user_id: userId, resource: null }).first('hash');
    return found?.hash;
}

export async function renameKey(db: Db, keyId: string, name: string): Promise<void> {
    await key(db, keyId).update({ name });
}

/** Replaces the scopes, within a second everywhere. Nothing changes if they are `wider` than `mayWiden` permits, or it has `ended`. */
export async function changeScopes(
    db: Db,
    keyId: string,
    { scopes, mayWiden }: { scopes: Scopes; mayWiden: boolean },
): Promise<'changed' | 'wider' | 'ended'> {
    return db.transaction(async (trx) => {
        const before = await active(trx).where({ id: keyId }).forUpdate().first('scopes');
        if (before === undefined) return 'ended';
        if (!mayWiden && isWider(scopes, before.scopes)) return 'wider';
        await key(trx, keyId).update({ scopes: JSON.stringify(scopes) });
        return 'changed';
    });
}

/** Sets or removes the price above which a person has to confirm writes of a key. It applies to calls that begin a second later. */
export async function setConfirmAbove(db: Db, keyId: string, credits: number | null): Promise<void> {
    await key(db, keyId).update({ confirm_above: credits });
}

type Rotated = { ok: true; made: NewKey } | { ok: false; why: 'ended' | 'too many' };

/**
 * Replaces an active key by a new one with the same name, cap, scopes and price to confirm. The old key ends after `overlapSeconds`, or
 * earlier if it would have expired. The lifetime of the new key starts now and is as long as that of the old one. Refused if the old key
 * has ended meanwhile, or if the workspace would have too many active keys.
 */
export async function rotateKey(db: Db, keyId: string, overlapSeconds: number): Promise<Rotated> {
    return db.transaction(async (trx) => {
        const found = await findKey(trx, keyId);
        if (found === undefined) return { ok: false, why: 'ended' };
        const { workspaceId, userId, name } = found;
        await lockAsKeyHolder(trx, found);
        const old = await active(trx)
            .where({ id: keyId })
            .forUpdate()
            .first('day_cap', 'scopes', 'confirm_above', { lasts: trx.raw('extract(epoch from expires_at - created_at)::bigint') });
        if (old === undefined) return { ok: false, why: 'ended' };
        // With an overlap, both keys are active for a while.
        const beside = (await countActive(trx, workspaceId)) - (overlapSeconds === 0 ? 1 : 0);
        if (beside >= MAX_KEYS) return { ok: false, why: 'too many' };
        await key(trx, keyId).update({ expires_at: trx.raw('least(expires_at, ?)', [fromNow(trx, `${overlapSeconds} seconds`)]) });
        if (overlapSeconds === 0) await revokeKeys(trx, (keys) => keys.where({ id: keyId }), 'rotated');
        const made = await createKey(trx, { workspaceId, userId, name, expiresIn: old.lasts ?? undefined, scopes: old.scopes });
        if (old.day_cap !== null) await setKeyCap(trx, made.keyId, old.day_cap);
        if (old.confirm_above !== null) await setConfirmAbove(trx, made.keyId, old.confirm_above);
        return { ok: true, made };
    });
}

/** Revokes a key permanently. Every process applies this within a second. False if there is no such key or it was already revoked. */
export async function revokeKey(db: Db, keyId: string): Promise<boolean> {
    const revoked = await db.transaction((trx) => revokeKeys(trx, (keys) => keys.where({ id: keyId }), 'revoked'));
    return revoked.length === 1;
}

/** Revokes keys, and grants of tokens, by hashes, and mails their owners once. Resolves with the known hashes in base64. */
export async function revokeReported(
    { db, secrets }: { db: Db; secrets: Secrets },
    hashes: readonly Buffer[],
    publicUrl: string,
): Promise<Set<string>> {
    const known: { id: string; hash: Buffer }[] = await db('api_keys')
        .whereIn('hash', hashes)
        .select('id', 'hash')
        .unionAll(db('app_refresh_tokens').whereIn('hash', hashes).select('key_id', 'hash'));
    if (known.length > 0) await db.transaction((trx) => revokeLeaked(trx, secrets, { keyIds: known.map(({ id }) => id), publicUrl }));
    return new Set(known.map(({ hash }) => hash.toString('base64')));
}

async function revokeLeaked(trx: Db, secrets: Secrets, { keyIds, publicUrl }: { keyIds: string[]; publicUrl: string }): Promise<void> {
    const revoked = await revokeKeys(trx, (keys) => keys.whereIn('id', [...new Set(keyIds)]), 'reported');
    for (const { keyId, name, prefix, workspaceId, userId } of revoked) {
        await recordAct(trx, { workspaceId, actor: 'system', action: 'key.reported', target: keyId, details: { name } });
        const owner = await trx('users').where({ id: userId }).whereNotNull('verified_at').first('email');
        // An unconfirmed address may belong to another person.
        if (owner === undefined) continue;
        await queueMail(trx, secrets, {
            to: owner.email,
            subject: 'A leaked API key of yours was revoked',
            text: `Somebody found your API key "${name}" (${prefix}…) where others can read it, and reported it. It is revoked and no longer works.

Make another key: ${publicUrl}/dashboard/keys

Take the old one out of wherever it was published, and look for calls that are not yours: ${publicUrl}/dashboard/usage/calls

Webhooks and connections made with it stay. Remove what is not yours: ${publicUrl}/dashboard/settings/access
`,
        });
    }
}

function key(db: Db, keyId: string) {
    return db('api_keys').where({ id: keyId });
}

/** Does not count grants of apps. Callers hold a lock on the row of the workspace. */
async function countActive(db: Db, workspaceId: string): Promise<number> {
    return countRows(active(db).where({ workspace_id: workspaceId, resource: null }));
}

function active(db: Db): Knex.QueryBuilder {
    return db('api_keys')
        .whereNull('revoked_at')
        .where((is) => is.whereNull('expires_at').orWhere('expires_at', '>', now(db)));
}
