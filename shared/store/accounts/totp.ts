import type { Knex } from 'knex';
import { ago, type Db, now, orNow } from '../../platform/db.ts';
import type { Secrets } from '../../platform/secrets.ts';

export const TOTP_PURPOSE = 'totp';
/** A code is valid 30 seconds before and after its own half minute, because the clocks of phones are slightly off. */
const TOLERANCE_SECONDS = 30;

/** `wrong` includes used codes; `unreadable`: no key of the ring decrypts the secret. */
export type TotpVerdict = 'right' | 'wrong' | 'unreadable';

export interface TotpParts {
    db: Db;
    secrets: Secrets;
    /** In milliseconds since the epoch. */
    now: number;
}

/** Minutes for which a secret waits for its first code. Then it is replaced: another session of the user may have read it. */
const PENDING_MINUTES = 60;

/** The base32 secret for an authenticator app. It is stored for up to an hour, until its first code confirms it. */
export async function pendingTotp({ db, secrets }: TotpParts, userId: string): Promise<string> {
    const row = await pending(db, userId)
        .where('created_at', '>', ago(db, `${PENDING_MINUTES} minutes`))
        .first('sealed');
    const kept = row && (await secrets.open(row.sealed, TOTP_PURPOSE));
    if (kept !== undefined) return kept.toString('utf8');
    const { generateSecret } = await import('otplib');
    const secret = generateSecret();
    const sealed = await secrets.seal(secret, TOTP_PURPOSE);
    await db('totp_secrets')
        .insert({ user_id: userId, sealed })
        .onConflict('user_id')
        .merge({ sealed, last_step: null, created_at: now(db) })
        .where({ 'totp_secrets.confirmed_at': null });
    return secret;
}

/** Activates the pending secret if its first code is correct. */
export async function confirmTotp(parts: TotpParts, userId: string, code: string): Promise<TotpVerdict> {
    return check(parts, pending(parts.db, userId), code);
}

/** Checks a code at sign-in. Callers limit the attempts. */
export async function useTotp(parts: TotpParts, userId: string, code: string): Promise<TotpVerdict> {
    return check(parts, parts.db('totp_secrets').where({ user_id: userId }).whereNotNull('confirmed_at'), code);
}

/** Deletes a secret that waits for its first code. */
export async function dropPendingTotp(db: Db, userId: string): Promise<void> {
    await pending(db, userId).delete();
}

export async function removeTotp(db: Db, userId: string): Promise<void> {
    await db('totp_secrets').where({ user_id: userId }).delete();
}

function pending(db: Db, userId: string): Knex.QueryBuilder {
    return db('totp_secrets').where({ user_id: userId, confirmed_at: null });
}

async function check({ db, secrets, now: ms }: TotpParts, found: Knex.QueryBuilder, code: string): Promise<TotpVerdict> {
    const row: { user_id: string; sealed: Buffer } | undefined = await found.first('user_id', 'sealed');
    if (row === undefined) return 'wrong';
    const secret = await secrets.open(row.sealed, TOTP_PURPOSE);
    if (secret === undefined) return 'unreadable';
    const token = code.replaceAll(/\s/g, '');
    if (!/^\d{6}$/.test(token)) return 'wrong';
    const { verify } = await import('otplib');
    const epoch = Math.floor(ms / 1000);
    const checked = await verify({ secret: secret.toString('utf8'), token, epoch, epochTolerance: TOLERANCE_SECONDS });
    if (!checked.valid || !('timeStep' in checked)) return 'wrong';
    // Of two concurrent calls with the same code, one succeeds.
    const used = await db('totp_secrets')
        .where(row)
        .where((is) => is.whereNull('last_step').orWhere('last_step', '<', checked.timeStep))
        .update({ last_step: checked.timeStep, confirmed_at: orNow(db, 'confirmed_at') });
    return used === 1 ? 'right' : 'wrong';
}
