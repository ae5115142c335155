import { type Db, now } from '../../platform/db.ts';
import type { Secrets } from '../../platform/secrets.ts';

/** A plain-text mail. */
export interface Mail {
    to: string;
    subject: string;
    text: string;
    /** The id of the link in the mail. When the mail is sent, the token of the link replaces the last LINK_TOKEN in the text. */
    linkId?: string;
}

/** Placeholder for the token of the mail's link. */
export const LINK_TOKEN = '{token}';

export interface WaitingMail {
    id: number;
    to: string;
    /** Number of attempts, including the current one. */
    attempts: number;
    /** Undefined if no key of the ring decrypts it. */
    content: Omit<Mail, 'to'> | undefined;
}

const PURPOSE = 'mail';

/** Queues an encrypted mail, which shared/mail/mail.ts sends. Call it in the transaction that causes the mail. */
export async function queueMail(db: Db, secrets: Secrets, { to, ...content }: Mail): Promise<void> {
    const sealed = await secrets.seal(JSON.stringify(content), PURPOSE);
    await db('outgoing_mails').insert({ recipient: to, sealed });
}

/** Takes the mail that has been due longest, for two minutes, and longer after each failure. Undefined if none is due. */
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

/** Deletes a mail that was sent or can never be sent. */
export async function dropMail(db: Db, { id }: Pick<WaitingMail, 'id'>): Promise<void> {
    await db('outgoing_mails').where({ id }).delete();
}
