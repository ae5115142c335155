import type { Transporter } from 'nodemailer';
import type { Config } from '../platform/config.ts';
import type { Db } from '../platform/db.ts';
import type { Log } from '../platform/log.ts';
import type { Secrets } from '../platform/secrets.ts';
import { createSerialRuns } from '../platform/serial-runs.ts';
import { tokenOfLink } from '../store/accounts/mail-links.ts';
import * as mails from '../store/accounts/mails.ts';
import { mailNews } from './news.ts';

export interface Postman {
    /** Sends queued mails soon. Call it after the commit. */
    hurry(): void;
    /** Resolves when no due mail is left. */
    flush(): Promise<void>;
    close(): Promise<void>;
}

/** Who runs this service, as its mails say. */
interface Operator {
    name: string | undefined;
    contact: string | undefined;
}

interface PostmanOptions {
    db: Db;
    secrets: Secrets;
    log: Log;
    mail: Config['mail'];
    operator: Operator;
    publicUrl(): string;
    everyMs: number;
}

/** About nine hours of retries. */
const MAX_ATTEMPTS = 9;

/**
 * Sends the queued mails. Several processes may run it; only one of them sends each mail. Without SMTP_URL, mails are logged at a level
 * that `npm start` shows.
 */
export function openPostman({ db, secrets, log, mail, operator, publicUrl, everyMs }: PostmanOptions): Postman {
    const send = mail.smtpUrl === undefined ? undefined : createTransport(mail.smtpUrl, sender);
    let isClosed = false;
    const runs = createSerialRuns(
        () => empty().catch((error: unknown) => log.warn({ part: 'mail', err: error }, 'queued mails could not be read')),
        () => !isClosed,
    );

    /** Replies go to the sender that the operator set, or else to the operator, since nobody reads the default sender. */
    function sender(): Sender {
        if (mail.from !== undefined) return { from: mail.from };
        return { from: `Routebook <no-reply@${new URL(publicUrl()).hostname}>`, ...(operator.contact && { replyTo: operator.contact }) };
    }

    async function empty(): Promise<void> {
        await mailNews(db, secrets, publicUrl());
        const take = () => mails.takeMail(db, secrets);
        for (let waiting = await take(); waiting !== undefined && !isClosed; waiting = await take()) {
            const failure = await deliver(waiting).then(
                () => undefined,
                (error: unknown) => error,
            );
            const { attempts } = waiting;
            if (failure !== undefined) log.warn({ part: 'mail', attempts, err: failure }, 'a mail could not be sent');
            if (failure === undefined || isFinal(failure) || attempts >= MAX_ATTEMPTS) await mails.dropMail(db, waiting);
        }
    }

    async function deliver({ to, content }: mails.WaitingMail): Promise<void> {
        // Another process may have the key, so the mail is retried.
        if (content === undefined) throw new Error('no key of SECRET_KEYS decrypts it');
        const text = (await textOf(content)) + signature(operator, publicUrl());
        if (send === undefined)
            log.warn({ mail_to: to, mail_link: linkIn(text), mail_text: text }, `no SMTP_URL, so not mailed: ${content.subject}`);
        await send?.({ to, subject: content.subject, text });
    }

    async function textOf({ text, linkId }: Omit<mails.Mail, 'to'>): Promise<string> {
        // The last occurrence, because names that users chose precede the link.
        const at = text.lastIndexOf(mails.LINK_TOKEN);
        if (linkId === undefined || at < 0) return text;
        return text.slice(0, at) + (await tokenOfLink(secrets, linkId)) + text.slice(at + mails.LINK_TOKEN.length);
    }

    const timer = setInterval(() => void runs.now(), everyMs);
    timer.unref();
    return {
        hurry: () => void runs.now(),
        flush: runs.now,
        async close() {
            clearInterval(timer);
            isClosed = true;
            await runs.idle();
        },
    };
}

/** The end of every mail: who sends it, and who answers questions. */
function signature({ name, contact }: Operator, publicUrl: string): string {
    const service = `Routebook at ${publicUrl}${name === undefined ? '' : `, run by ${name}`}`;
    return ['', '-- ', service, ...(contact === undefined ? [] : [`Questions? Write to ${contact}`]), ''].join('\n');
}

interface Sender {
    from: string;
    replyTo?: string;
}

function createTransport(smtpUrl: string, sender: () => Sender): (letter: mails.Mail) => Promise<unknown> {
    // Loads the SMTP library only in a process that sends mail.
    let transport: Promise<Transporter> | undefined;
    const open = async () => {
        const { createTransport } = await import('nodemailer');
        return createTransport({
            url: smtpUrl,
            connectionTimeout: 10_000,
            greetingTimeout: 10_000,
            socketTimeout: 20_000,
            disableFileAccess: true,
            disableUrlAccess: true,
        });
    };
    return async ({ to, subject, text }) => {
        transport ??= open();
        const headers = { 'auto-submitted': 'auto-generated' };
        return (await transport).sendMail({ ...sender(), to: { name: '', address: to }, subject, text, headers });
    };
}

/** The link to open, which stands on a line of its own. A person copies it from the log, where the line breaks of the text are escaped. */
function linkIn(text: string): string | undefined {
    return /^https?:\/\/\S+$/m.exec(text)?.[0];
}

/** Whether the mail server rejected the mail permanently, for example because the mailbox is unknown. */
function isFinal(failure: unknown): boolean {
    const { responseCode = 0 } = failure as { responseCode?: number };
    return responseCode >= 500 && responseCode < 600;
}
