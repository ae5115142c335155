import { randomInt } from 'node:crypto';
import { webTokenHash } from '../../domain/accounts/web-token.ts';
import type { Db } from '../../platform/db.ts';

/** Minutes that a mailed code works. */
const CODE_MINUTES = 10;

/** A new code of eight digits for one session, which is mailed; the one before it no longer works. */
export async function makeSessionCode(db: Db, sessionId: string): Promise<string> {
    const code = String(randomInt(0, 100_000_000)).padStart(8, '0');
    await db.raw(`update web_sessions set code_hash = ?, code_expires_at = app_now() + ? * interval '1 minute' where id = ?`, [
        codeHash(sessionId, code),
        CODE_MINUTES,
        sessionId,
    ]);
    return code;
}

/** Whether this is the session's code; it works once. Callers bound the attempts. */
export async function useSessionCode(db: Db, sessionId: string, code: string): Promise<boolean> {
    const { rowCount } = await db.raw<{ rowCount: number }>(
        `update web_sessions set code_hash = null, code_expires_at = null
         where id = ? and code_hash = ? and code_expires_at > app_now()`,
        [sessionId, codeHash(sessionId, code)],
    );
    return rowCount === 1;
}

function codeHash(sessionId: string, code: string): Buffer {
    return webTokenHash(`${sessionId} ${code.replaceAll(/[\s-]/g, '')}`);
}
