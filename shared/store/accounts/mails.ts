import { type Db, now } from '../../platform/db.ts';
import type { Secrets } from '../../platform/secrets.ts';

/** A mail of plain text. */
export interface Mail {
    to: string;
    subject: string;
    text: string;
    /** Of the link in it: the last LINK_TOKEN in the text becomes the link's token when the mail is sent. */
    linkId?: string;
}

/** Stands in a text for the token of the mail's link. */
export const LINK_TOKEN = '{token}';

export interface WaitingMail {
    id: number;
    to: string;
    /** Times it was tried, this one included. */
    attempts: number;
    /** Undefined where no key of the ring opens it. */
    content: Omit<Mail, 'to'> | undefined;
    /** Where it waits: `mails` is of releases that did not encrypt. */
    table: 'outgoing_mails' | 'mails';
}

const PURPOSE = 'mail';

/** Queues a mail, encrypted, which shared/mail/mail.ts sends. Call it in the transaction that is the reason for it. */
export async function queueMail(db: Db, secrets: Secrets, { to, ...content }: Mail): Promise<void> {
    const sealed = await secrets.seal(JSON.stringify(content), PURPOSE);
    await db('outgoing_mails').insert({ recipient: to, sealed });
}

/**
 * Takes the mail that has been due longest. This process owns it for two minutes, and longer after each failure. Undefined where none is
 * due.
 */
export async function takeMail(db: Db, secrets: Secrets): Promise<WaitingMail | undefined> {
    const sealed = await takeFrom<{ sealed: Buffer }>(db, 'outgoing_mails', ['sealed']);
    if (sealed !== undefined) {
        const text = await secrets.open(sealed.sealed, PURPOSE);
        const content = text && (JSON.parse(text.toString()) as Omit<Mail, 'to'>);
        return { id: sealed.id, to: sealed.recipient, attempts: sealed.attempts, content, table: 'outgoing_mails' };
    }
    const clear = await takeFrom<{ subject: string; body: string }>(db, 'mails', ['subject', 'body']);
    if (clear === undefined) return undefined;
    const { id, recipient, attempts, subject, body } = clear;
    return { id, to: recipient, attempts, content: { subject, text: body }, table: 'mails' };
}

async function takeFrom<Content>(db: Db, table: WaitingMail['table'], columns: string[]) {
    const due = db(table).where('due_at', '<=', now(db)).orderBy(['due_at', 'id']).limit(1).forUpdate().skipLocked();
    const [taken] = await db(table)
        .where({ id: due.select('id') })
        .update({
            attempts: db.raw('attempts + 1'),
            due_at: db.raw("app_now() + interval '2 minutes' * power(2, least(attempts, 8))"),
        })
        .returning<(Content & { id: number; recipient: string; attempts: number })[]>(['id', 'recipient', 'attempts', ...columns]);
    return taken;
}

/** Deletes a mail that was sent, or never will be. */
export async function dropMail(db: Db, { table, id }: Pick<WaitingMail, 'table' | 'id'>): Promise<void> {
    await db(table).where({ id }).delete();
}
