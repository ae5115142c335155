import type { Db } from '../db.ts';

/** A mail of plain text. */
export interface Mail {
    to: string;
    subject: string;
    text: string;
}

export interface WaitingMail extends Mail {
    id: number;
    /** Times it was tried, this one included. */
    attempts: number;
}

/** Puts a mail into the box that shared/mail.ts empties; call it in the transaction that is the reason for it. */
export async function queueMail(db: Db, { to, subject, text }: Mail): Promise<void> {
    await db.raw('insert into mails (recipient, subject, body) values (?, ?, ?)', [to, subject, text]);
}

/** The mail that is due longest, left to this process for two minutes and longer after each failure; undefined where none is due. */
export async function takeMail(db: Db): Promise<WaitingMail | undefined> {
    const { rows } = await db.raw<{ rows: { id: number; recipient: string; subject: string; body: string; attempts: number }[] }>(
        `update mails set attempts = attempts + 1, due_at = app_now() + interval '2 minutes' * power(2, least(attempts, 8))
         where id = (select id from mails where due_at <= app_now() order by due_at, id limit 1 for update skip locked)
         returning id, recipient, subject, body, attempts`,
    );
    const row = rows[0];
    return row && { id: row.id, to: row.recipient, subject: row.subject, text: row.body, attempts: row.attempts };
}

/** It was sent, or never will be. */
export async function dropMail(db: Db, id: number): Promise<void> {
    await db.raw('delete from mails where id = ?', [id]);
}
