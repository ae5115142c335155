import type { App } from '../../shared/app.ts';

/** A mail that waits, as its recipient would get it. */
export interface WaitingMail {
    recipient: string;
    subject: string;
    body: string;
}

/** Mails stay in the outbox from now on, to be read; without it they go to the log, or to the server that is set. */
export async function holdMails({ db }: App): Promise<void> {
    await db.raw("alter table outgoing_mails alter column due_at set default 'infinity'");
}

/** The mails that wait for one recipient, oldest first. */
export async function mailsTo({ db, secrets }: App, recipient: string): Promise<WaitingMail[]> {
    const { rows } = await db.raw<{ rows: { sealed: Buffer }[] }>('select sealed from outgoing_mails where recipient = ? order by id', [
        recipient,
    ]);
    return Promise.all(
        rows.map(async ({ sealed }) => {
            const { subject, text } = JSON.parse(String(await secrets.open(sealed, 'mail'))) as { subject: string; text: string };
            return { recipient, subject, body: text };
        }),
    );
}
