import { createHash, randomInt } from 'node:crypto';
import type { Db } from '../../platform/db.ts';

interface Factors {
    hasTotp: boolean;
    passkeys: number;
    recoveryCodes: number;
}

export async function factorsOf(db: Db, userId: string): Promise<Factors> {
    const ofUser = (table: string) => db(table).where({ user_id: userId });
    return db.queryBuilder().first({
        hasTotp: db.raw('exists ?', [ofUser('totp_secrets').whereNotNull('confirmed_at').select('user_id')]),
        passkeys: ofUser('passkeys').count(),
        recoveryCodes: ofUser('recovery_codes').count(),
    });
}

/** Whether a sign-in requires more than the correct password. */
export function hasFactor({ hasTotp, passkeys }: Factors): boolean {
    return hasTotp || passkeys > 0;
}

/** Deletes all second factors of a user, and the tickets of sign-ins that wait for one. */
export async function dropFactors(db: Db, userId: string): Promise<void> {
    for (const table of ['totp_secrets', 'passkeys', 'recovery_codes', 'passkey_challenges', 'sign_in_tickets'])
        await db(table).where({ user_id: userId }).delete();
}

/** Sets whether a workspace requires a second factor of its members in the dashboard. Keys work without it. */
export async function demandFactor(db: Db, workspaceId: string, isDemanded: boolean): Promise<void> {
    await db('workspaces').where({ id: workspaceId }).update({ demands_factor: isDemanded });
}

const CODES = 10;
/** 16 of 32 letters are 80 bits. These are too many to guess, so a plain hash is sufficient. */
const LETTERS = 'abcdefghijkmnpqrstuvwxyz23456789';
const LENGTH = 16;

/** Creates ten new recovery codes, which are shown once. Earlier codes become invalid. The caller holds the lock on the user's row. */
export async function makeRecoveryCodes(db: Db, userId: string): Promise<string[]> {
    const codes = Array.from({ length: CODES }, newCode);
    await db.transaction(async (trx) => {
        await dropRecoveryCodes(trx, userId);
        await trx('recovery_codes').insert(codes.map((code) => ({ user_id: userId, code_hash: recoveryHash(userId, code) })));
    });
    return codes;
}

/** Uses a recovery code. False if it is not an unused code of this user. Callers limit the attempts. */
export async function useRecoveryCode(db: Db, userId: string, code: string): Promise<boolean> {
    const used = await db('recovery_codes')
        .where({ user_id: userId, code_hash: recoveryHash(userId, code) })
        .delete();
    return used === 1;
}

export async function dropRecoveryCodes(db: Db, userId: string): Promise<void> {
    await db('recovery_codes').where({ user_id: userId }).delete();
}

function newCode(): string {
    const letters = Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('');
    return letters.replaceAll(/(.{4})(?=.)/g, '$1-');
}

function recoveryHash(userId: string, code: string): Buffer {
    const letters = code.toLowerCase().replaceAll(/[\s-]/g, '');
    return createHash('sha256').update(`recovery code ${userId} ${letters}`, 'utf8').digest();
}
