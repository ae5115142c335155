import type { App } from '../app.ts';
import type { Db } from '../db.ts';
import { queueMail } from '../store/mails.ts';
import { endNotices, giveNotice, payersOf } from '../store/notices.ts';
import type { Subscription } from '../store/subscriptions.ts';
import { paymentFailedLetter, planEndedLetter } from './letters.ts';

/** What a mail needs: where its links lead, and how it waits. */
type Sender = Pick<App, 'publicUrl' | 'secrets'>;

/** A payment did not go through: told once a billing date, by mail and on the dashboard. */
export async function tellOfFailure(
    trx: Db,
    { publicUrl, secrets }: Sender,
    { workspaceId, subscriptionId, periodEnd }: Subscription,
): Promise<void> {
    const subject = `${subscriptionId} ${periodEnd.toISOString()}`;
    const isNew = await giveNotice(trx, { kind: 'payment_failed', accountId: workspaceId, workspaceId, subject, facts: {} });
    if (!isNew) return;
    const name = await nameOf(trx, workspaceId);
    for (const to of await payersOf(trx, workspaceId)) await queueMail(trx, secrets, paymentFailedLetter(to, publicUrl(), name));
}

/** The plan ended, and why. */
export async function tellOfEnd(
    trx: Db,
    { publicUrl, secrets }: Sender,
    { workspaceId, subscriptionId }: Subscription,
    why: string,
): Promise<void> {
    await endNotices(trx, workspaceId, 'payment_failed');
    const isNew = await giveNotice(trx, {
        kind: 'plan_ended',
        accountId: workspaceId,
        workspaceId,
        subject: subscriptionId,
        facts: { why },
    });
    // Whoever deletes the account knows.
    if (!isNew || why === 'deletion') return;
    const name = await nameOf(trx, workspaceId);
    for (const to of await payersOf(trx, workspaceId)) await queueMail(trx, secrets, planEndedLetter(to, publicUrl(), name, why));
}

/** A new period begins: what was in the way is over. */
export async function forgetTrouble(trx: Db, workspaceId: string): Promise<void> {
    await endNotices(trx, workspaceId, 'payment_failed');
    await endNotices(trx, workspaceId, 'plan_ended');
}

async function nameOf(trx: Db, workspaceId: string): Promise<string> {
    const { rows } = await trx.raw<{ rows: { name: string }[] }>('select name from workspaces where id = ?', [workspaceId]);
    return rows[0]?.name ?? 'your workspace';
}
