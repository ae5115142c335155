import type { Db } from '../db.ts';
import { newWebToken, webTokenHash } from '../domain/web-token.ts';

/** Minutes between a right password and the second factor. */
const TICKET_MINUTES = 10;

/** What stands for a right password, in the form that asks for the second factor. */
export async function makeTicket(db: Db, userId: string): Promise<string> {
    const token = newWebToken();
    await db.raw(`insert into sign_in_tickets (token_hash, user_id, expires_at) values (?, ?, app_now() + ? * interval '1 minute')`, [
        webTokenHash(token),
        userId,
        TICKET_MINUTES,
    ]);
    return token;
}

/** Whose password was right, without using the ticket up. */
export async function findTicket(db: Db, token: string): Promise<string | undefined> {
    const { rows } = await db.raw<{ rows: { user_id: string }[] }>(
        'select user_id from sign_in_tickets where token_hash = ? and expires_at > app_now()',
        [webTokenHash(token)],
    );
    return rows[0]?.user_id;
}

/** Uses a ticket up: of two at once, one gets in. */
export async function useTicket(db: Db, token: string): Promise<boolean> {
    const { rowCount } = await db.raw<{ rowCount: number }>('delete from sign_in_tickets where token_hash = ?', [webTokenHash(token)]);
    return rowCount === 1;
}
