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
    /** Undefined if no key of the ring opens it. */
    content: Omit<Mail, 'to'> | undefined;
}

const PURPOSE = 'mail';

/** Queues a mail, encrypted, which shared/mail/mail.ts sends. Call it in the transaction that is the reason for it. */
export async function queueMail(db: Db, secrets: Secrets, { to, ...content }: Mail): Promise<void> {
    const sealed = await secrets.seal(JSON.stringify(content), PURPOSE);
    await db('outgoing_mails').insert({ recipient: to, sealed });
}

/**
 * Takes the mail that has been due longest. This process owns it for two minutes, and longer after each failure. Undefined if none is
 * due.
 */
export async function takeMail(db: Db, secrets: Secrets): Promise<WaitingMail | undefined> {
    const due = db('outgoing_mails').where('due_at', '<=', now(db)).orderBy(['due_at', 'id']).limit(1).forUpdate().skipLocked();
    const [taken] = await db('outgoing_mails')
        .where({ id: due.select('id') })
        .update({
            attempts: db.raw('attempts + 1'),
            due_at: db.raw("app_now() + interval '2 minutes' * power(2, least(attempts, 8))"),
        })
        .returning<{ id: number; recipient: string; attempts: number; sealed: Buffer }[]>(['id', 'recipient', 'attempts', 'sealed']);
    if (taken === undefined) return undefined;
    const text = await secrets.open(taken.sealed, PURPOSE);
    const content = text && (JSON.parse(text.toString()) as Omit<Mail, 'to'>);
    return { id: taken.id, to: taken.recipient, attempts: taken.attempts, content };
}

/** Deletes a mail that was sent, or never will be. */
export async function dropMail(db: Db, { id }: Pick<WaitingMail, 'id'>): Promise<void> {
    await db('outgoing_mails').where({ id }).delete();
}
