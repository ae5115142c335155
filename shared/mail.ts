import type { Transporter } from 'nodemailer';
import type { Config } from './config.ts';
import type { Db } from './db.ts';
import type { Log } from './log.ts';
import { mailNews } from './mail-news.ts';
import type { Secrets } from './secrets.ts';
import { tokenOfLink } from './store/mail-links.ts';
import * as mails from './store/mails.ts';

export interface Postman {
    /** Sends soon what waits; call it after the commit. */
    hurry(): void;
    /** Resolves when nothing waits that is due. */
    flush(): Promise<void>;
    close(): Promise<void>;
}

export interface PostmanOptions {
    db: Db;
    secrets: Secrets;
    log: Log;
    mail: Config['mail'];
    publicUrl(): string;
}

/** How often the box is looked into without being told: what other processes put there, and what failed before. */
const EVERY_MS = 5000;
/** About nine hours of trying. */
const MAX_ATTEMPTS = 9;

/**
 * Sends the mails that wait in the database, from any number of processes, each mail by one of them. Without SMTP_URL a mail
 * goes to the log instead, at a level that `npm start` shows.
 */
export function openPostman({ db, secrets, log, mail, publicUrl }: PostmanOptions): Postman {
    const send = mail.smtpUrl === undefined ? undefined : openTransport(mail.smtpUrl, () => mail.from ?? defaultSender(publicUrl()));
    let running: Promise<void> | undefined;
    let isAgain = false;
    let isClosed = false;

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
        // Another process may have the key: it is tried again like any other.
        if (content === undefined) throw new Error('no key of SECRET_KEYS opens it');
        const text = await textOf(content);
        if (send === undefined) log.warn({ mail_to: to, mail_text: text }, `no SMTP_URL, so not mailed: ${content.subject}`);
        await send?.({ to, subject: content.subject, text });
    }

    async function textOf({ text, linkId }: Omit<mails.Mail, 'to'>): Promise<string> {
        return linkId === undefined ? text : text.replace(mails.LINK_TOKEN, await tokenOfLink(secrets, linkId));
    }

    function hurry(): Promise<void> {
        if (running !== undefined) {
            isAgain = true;
            return running;
        }
        running = empty()
            .catch((error: unknown) => log.warn({ part: 'mail', err: error }, 'the mails that wait could not be read'))
            .then(() => {
                running = undefined;
                if (!isAgain || isClosed) return undefined;
                isAgain = false;
                return hurry();
            });
        return running;
    }

    const timer = setInterval(() => void hurry(), EVERY_MS);
    timer.unref();
    return {
        hurry: () => void hurry(),
        flush: hurry,
        async close() {
            clearInterval(timer);
            isClosed = true;
            await running;
        },
    };
}

function openTransport(smtpUrl: string, from: () => string): (letter: mails.Mail) => Promise<unknown> {
    // Only who sends mails keeps in memory what sends them.
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
        return (await transport).sendMail({ from: from(), to: { name: '', address: to }, subject, text, headers });
    };
}

function defaultSender(publicUrl: string): string {
    return `Routebook <no-reply@${new URL(publicUrl).hostname}>`;
}

/** The mail server said that it will never take this one: there is no such mailbox. */
function isFinal(failure: unknown): boolean {
    const { responseCode = 0 } = failure as { responseCode?: number };
    return responseCode >= 500 && responseCode < 600;
}
