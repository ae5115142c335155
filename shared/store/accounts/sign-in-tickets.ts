import { newWebToken, webTokenHash } from '../../domain/accounts/web-token.ts';
import type { Db } from '../../platform/db.ts';

/** Minutes between a right password and the second factor. */
const TICKET_MINUTES = 10;

/** The user of a correct password, and the sign-in revision at that time. */
export interface TicketHolder {
    userId: string;
    revision: number;
}

/** What stands for a right password, in the form that asks for the second factor. */
export async function makeTicket(db: Db, { userId, revision }: TicketHolder): Promise<string> {
    const token = newWebToken();
    await db.raw(
        `insert into sign_in_tickets (token_hash, user_id, revision, expires_at) values (?, ?, ?, app_now() + ? * interval '1 minute')`,
        [webTokenHash(token), userId, revision, TICKET_MINUTES],
    );
    return token;
}

/** The holder of a ticket, which stays valid. */
export async function findTicket(db: Db, token: string): Promise<TicketHolder | undefined> {
    const { rows } = await db.raw<{ rows: { user_id: string; revision: number }[] }>(
        'select user_id, revision from sign_in_tickets where token_hash = ? and expires_at > app_now()',
        [webTokenHash(token)],
    );
    return rows[0] && { userId: rows[0].user_id, revision: rows[0].revision };
}

/** Uses a ticket. Of two concurrent calls, one succeeds. */
export async function useTicket(db: Db, token: string): Promise<boolean> {
    const { rowCount } = await db.raw<{ rowCount: number }>('delete from sign_in_tickets where token_hash = ?', [webTokenHash(token)]);
    return rowCount === 1;
}
