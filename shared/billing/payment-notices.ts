import type { App } from '../app.ts';
import type { Db } from '../platform/db.ts';
import { queueMail } from '../store/accounts/mails.ts';
import { endNotices, giveNotice, payersOf } from '../store/accounts/notices.ts';
import type { Subscription } from '../store/billing/subscriptions.ts';
import { paymentFailedLetter, planEndedLetter } from './letters.ts';

/** The needs of a mail: the address of its links, and the keys for the queue. */
type Sender = Pick<App, 'publicUrl' | 'secrets'>;

/** Reports a failed payment once per billing date, by mail and on the dashboard. */
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

/** Reports the end of a plan and its reason. */
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
    // The person who deletes the account knows.
    if (!isNew || why === 'deletion') return;
    const name = await nameOf(trx, workspaceId);
    for (const to of await payersOf(trx, workspaceId)) await queueMail(trx, secrets, planEndedLetter(to, publicUrl(), name, why));
}

/** Removes the notices of payment when a new period begins. */
export async function forgetTrouble(trx: Db, workspaceId: string): Promise<void> {
    await endNotices(trx, workspaceId, 'payment_failed');
    await endNotices(trx, workspaceId, 'plan_ended');
}

async function nameOf(trx: Db, workspaceId: string): Promise<string> {
    const { rows } = await trx.raw<{ rows: { name: string }[] }>('select name from workspaces where id = ?', [workspaceId]);
    return rows[0]?.name ?? 'your workspace';
}
