import type { App } from '../app.ts';
import type { Db } from '../platform/db.ts';
import type { Secrets } from '../platform/secrets.ts';
import { type Mail, queueMail } from '../store/accounts/mails.ts';
import { createNotice, endNotices, payerEmails, type Spent } from '../store/accounts/notices.ts';
import type { Subscription } from '../store/billing/subscriptions.ts';

/** Plain-text notices about credits and payment: what happened, the consequences, and where to look. */

const number = (value: number) => value.toLocaleString('en-US');
const credits = (value: number) => `${number(value)} ${value === 1 ? 'credit' : 'credits'}`;
const day = (date: Date) => date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });

/** @param isGone whether all credits are used, not only 80 % */
export function allowanceMail(
    to: string,
    publicUrl: string,
    isGone: boolean,
    { limit, left, resetsAt }: Pick<Spent, 'limit' | 'left' | 'resetsAt'>,
): Mail {
    const begins = isGone
        ? `You have used all ${credits(limit)} of this month's allowance. Calls now use your bonus credits. Without any, calls are refused and not billed.`
        : `You have used 80% of this month's allowance of ${credits(limit)}. ${credits(left)} ${left === 1 ? 'is' : 'are'} left.`;
    return {
        to,
        subject: isGone ? 'You have used all of your allowance' : 'You have used 80% of your allowance',
        text: `${begins}

Your allowance resets on ${day(resetsAt)}. To get more credits now, upgrade your plan:

${publicUrl}/dashboard/billing

There are no overage charges. We send this email at most once a month.
`,
    };
}

/** For the owner of a key whose last calls to an endpoint all failed. */
export function failingMail(
    to: string,
    publicUrl: string,
    { keyName, site, endpoint, calls, code }: { keyName: string; site: string; endpoint: string; calls: number; code: string },
): Mail {
    return {
        to,
        subject: `The last ${calls} calls of ${endpoint} failed`,
        text: `The last ${calls} calls of ${endpoint} on ${site} with your API key "${keyName}" failed, most often with ${code}. None was billed.

What the code means: ${publicUrl}/docs/errors#${code}
Your calls: ${publicUrl}/dashboard/usage/calls

We will not email you about this again until a call has succeeded.
`,
    };
}

function paymentFailedMail(to: string, publicUrl: string, workspace: string): Mail {
    return {
        to,
        subject: `Your payment for ${workspace} failed`,
        text: `We could not charge your card for the new billing period of ${workspace}.

You can use your remaining allowance for three days after the billing date, and you keep your plan for seven. After that, the workspace moves to Free. Update your card here:

${publicUrl}/dashboard/billing
`,
    };
}

const REASONS: Readonly<Record<string, string>> = {
    refund: 'because its payment was refunded',
    dispute: 'because its payment was disputed',
    unpaid: 'because it was not paid within seven days',
    canceled: 'because the subscription ended',
};

/** @param why the status of its subscription, as Stripe reports it */
function planEndedMail(to: string, publicUrl: string, workspace: string, why: string): Mail {
    return {
        to,
        subject: `${workspace} is now on Free`,
        text: `${workspace} is now on Free ${REASONS[why] ?? REASONS['canceled']}. Members use their own free allowance again, and bonus credits are back with the owner. You will not be billed again.

${publicUrl}/dashboard/billing
`,
    };
}

/** The base URL for links, and the keys that encrypt the queue. */
type Sender = Pick<App, 'publicUrl' | 'secrets'>;

/** Reports a failed payment once per billing date, by mail and on the dashboard. */
export async function notifyOfFailure(
    trx: Db,
    { publicUrl, secrets }: Sender,
    { workspaceId, subscriptionId, periodEnd }: Subscription,
): Promise<void> {
    const subject = `${subscriptionId} ${periodEnd.toISOString()}`;
    const isNew = await createNotice(trx, { kind: 'payment_failed', accountId: workspaceId, workspaceId, subject, facts: {} });
    if (isNew) await mailPayers(trx, secrets, workspaceId, (to, name) => paymentFailedMail(to, publicUrl(), name));
}

export async function notifyOfEnd(
    trx: Db,
    { publicUrl, secrets }: Sender,
    { workspaceId, subscriptionId }: Subscription,
    why: string,
): Promise<void> {
    await endNotices(trx, workspaceId, 'payment_failed');
    const ended = { kind: 'plan_ended', accountId: workspaceId, workspaceId, subject: subscriptionId, facts: { why } } as const;
    const isNew = await createNotice(trx, ended);
    // The person who deletes the account needs no notice.
    if (isNew && why !== 'deletion') await mailPayers(trx, secrets, workspaceId, (to, name) => planEndedMail(to, publicUrl(), name, why));
}

/** Removes the notices of payment when a new period begins. */
export async function removePaymentNotices(trx: Db, workspaceId: string): Promise<void> {
    await endNotices(trx, workspaceId, 'payment_failed');
    await endNotices(trx, workspaceId, 'plan_ended');
}

async function mailPayers(trx: Db, secrets: Secrets, workspaceId: string, mail: (to: string, workspace: string) => Mail): Promise<void> {
    const workspace = await trx('workspaces').where({ id: workspaceId }).first('name');
    for (const to of await payerEmails(trx, workspaceId)) await queueMail(trx, secrets, mail(to, workspace?.name ?? 'your workspace'));
}
