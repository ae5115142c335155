import type { App } from '../../shared/app.ts';

/** A waiting mail as its recipient would get it. */
export interface WaitingMail {
    recipient: string;
    subject: string;
    body: string;
}

/** Keeps mails in the outbox from now on, so that a test can read them. Otherwise they go to the log, or to the configured server. */
export async function holdMails({ db }: App): Promise<void> {
    await db.raw("alter table outgoing_mails alter column due_at set default 'infinity'");
}

/** The waiting mails of one recipient, oldest first. */
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
