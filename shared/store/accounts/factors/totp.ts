import type { Db } from '../../../platform/db.ts';
import type { Secrets } from '../../../platform/secrets.ts';

/** Of the key ring. */
export const TOTP_PURPOSE = 'totp';
/** A code counts 30 seconds before and after its own half minute: phones are a little off. */
const TOLERANCE_SECONDS = 30;

/** What became of a code: right, wrong (or used before), or no key of the ring opens the secret. */
export type TotpVerdict = 'right' | 'wrong' | 'unreadable';

export interface TotpParts {
    db: Db;
    secrets: Secrets;
    /** Milliseconds since the epoch. */
    now: number;
}

/** Minutes that a secret waits for its first code. Another session of the user may have read it: what waits longer gives way to a new one. */
const PENDING_MINUTES = 60;

/** The secret that an authenticator app is to get, in base32: kept until its first code confirms it, for an hour. */
export async function pendingTotp({ db, secrets }: TotpParts, userId: string): Promise<string> {
    const row = await findRow(db, userId);
    const kept = row?.is_pending === true ? await secrets.open(row.sealed, TOTP_PURPOSE) : undefined;
    if (kept !== undefined) return kept.toString('utf8');
    const { generateSecret } = await import('otplib');
    const secret = generateSecret();
    await db.raw(
        `insert into totp_secrets (user_id, sealed) values (?, ?)
         on conflict (user_id) do update set sealed = excluded.sealed, last_step = null, created_at = app_now() where totp_secrets.confirmed_at is null`,
        [userId, await secrets.seal(secret, TOTP_PURPOSE)],
    );
    return secret;
}

/** Turns the pending secret on with its first code. */
export async function confirmTotp(parts: TotpParts, userId: string, code: string): Promise<TotpVerdict> {
    return judge(parts, userId, code, 'confirmed_at is null');
}

/** Judges a code of somebody who signs in. Callers bound the attempts. */
export async function useTotp(parts: TotpParts, userId: string, code: string): Promise<TotpVerdict> {
    return judge(parts, userId, code, 'confirmed_at is not null');
}

/** Forgets a secret that waits for its first code. */
export async function dropPendingTotp(db: Db, userId: string): Promise<void> {
    await db.raw('delete from totp_secrets where user_id = ? and confirmed_at is null', [userId]);
}

/** Turns the authenticator app off. */
export async function removeTotp(db: Db, userId: string): Promise<void> {
    await db.raw('delete from totp_secrets where user_id = ?', [userId]);
}

/** @param state which secret is meant, as SQL */
async function judge({ db, secrets, now }: TotpParts, userId: string, code: string, state: string): Promise<TotpVerdict> {
    const row = await findRow(db, userId, state);
    if (row === undefined) return 'wrong';
    const secret = await secrets.open(row.sealed, TOTP_PURPOSE);
    if (secret === undefined) return 'unreadable';
    const token = code.replaceAll(/\s/g, '');
    if (!/^\d{6}$/.test(token)) return 'wrong';
    const { verify } = await import('otplib');
    const judged = await verify({
        secret: secret.toString('utf8'),
        token,
        epoch: Math.floor(now / 1000),
        epochTolerance: TOLERANCE_SECONDS,
    });
    if (!judged.valid || !('timeStep' in judged)) return 'wrong';
    const { rowCount } = await db.raw<{ rowCount: number }>(
        `update totp_secrets set last_step = ?, confirmed_at = coalesce(confirmed_at, app_now())
         where user_id = ? and sealed = ? and (last_step is null or last_step < ?)`,
        [judged.timeStep, userId, row.sealed, judged.timeStep],
    );
    return rowCount === 1 ? 'right' : 'wrong';
}

async function findRow(db: Db, userId: string, state = 'true'): Promise<TotpColumns | undefined> {
    const { rows } = await db.raw<{ rows: TotpColumns[] }>(
        `select sealed, confirmed_at is null and created_at > app_now() - ? * interval '1 minute' as is_pending
         from totp_secrets where user_id = ? and ${state}`,
        [PENDING_MINUTES, userId],
    );
    return rows[0];
}

interface TotpColumns {
    sealed: Buffer;
    /** It waits for its first code, and not for too long. */
    is_pending: boolean;
}
