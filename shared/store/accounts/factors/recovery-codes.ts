import { createHash, randomInt } from 'node:crypto';
import type { Db } from '../../../platform/db.ts';

const CODES = 10;
/** 16 of 32 letters are 80 bits: too many to try, so that a plain hash suffices. */
const LETTERS = 'abcdefghijkmnpqrstuvwxyz23456789';
const LENGTH = 16;

/** Ten new codes, to be shown once; those before no longer work. */
export async function makeRecoveryCodes(db: Db, userId: string): Promise<string[]> {
    const codes = Array.from({ length: CODES }, newCode);
    await db.transaction(async (trx) => {
        await trx.raw('delete from recovery_codes where user_id = ?', [userId]);
        await trx.raw('insert into recovery_codes (user_id, code_hash) select ?, unnest(?::bytea[])', [
            userId,
            codes.map((code) => hashOf(userId, code)),
        ]);
    });
    return codes;
}

/** Uses a code up; false where it is not one of this user's that is left. Callers bound the attempts. */
export async function useRecoveryCode(db: Db, userId: string, code: string): Promise<boolean> {
    const { rowCount } = await db.raw<{ rowCount: number }>('delete from recovery_codes where user_id = ? and code_hash = ?', [
        userId,
        hashOf(userId, code),
    ]);
    return rowCount === 1;
}

function newCode(): string {
    const letters = Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('');
    return letters.replaceAll(/(.{4})(?=.)/g, '$1-');
}

function hashOf(userId: string, code: string): Buffer {
    const letters = code.toLowerCase().replaceAll(/[\s-]/g, '');
    return createHash('sha256').update(`recovery code ${userId} ${letters}`, 'utf8').digest();
}
