import type { App } from '../shared/app.ts';
import { allowanceMail, failingMail } from '../shared/billing/notices.ts';
import type { Db } from '../shared/platform/db.ts';
import { queueMail } from '../shared/store/accounts/mails.ts';
import {
    claimExamination,
    createNotice,
    endNotice,
    FAILURES,
    failedWith,
    findNearlySpent,
    hasNotice,
    keyOwner,
    payerEmails,
    recentStreaks,
    type Spent,
    type Streak,
} from '../shared/store/accounts/notices.ts';
import { recordEvent } from '../shared/store/events/events.ts';

/**
 * Notifies people once, by mail, on the dashboard and by events, when 80% or all of an allowance is used, and by mail when a key's last
 * fifty calls of one endpoint failed. It reads the request log a few times a minute, so no call waits for it. Every process may run it;
 * only one at a time does.
 */
export async function watchSpending(app: App): Promise<void> {
    const since = await claimExamination(app.db);
    if (since === undefined) return;
    for (const account of await findNearlySpent(app.db, since)) await notifyOfAllowance(app, account);
    for (const streak of await recentStreaks(app.db, since)) await notifyOfFailures(app, streak);
}

async function notifyOfAllowance({ db, secrets, publicUrl }: App, spent: Spent): Promise<void> {
    const { accountId, limit, left, bonus, period, resetsAt } = spent;
    const isGone = left === 0;
    await db.transaction(async (trx) => {
        await recordCredits(trx, 'low', spent);
        if (isGone && bonus === 0) await recordCredits(trx, 'exhausted', spent);
        const isNew = await createNotice(trx, {
            kind: isGone ? 'allowance_100' : 'allowance_80',
            accountId,
            subject: period,
            facts: { limit, left },
        });
        if (!isNew) return;
        for (const to of await payerEmails(trx, accountId)) {
            await queueMail(trx, secrets, allowanceMail(to, publicUrl(), isGone, { limit, left, resetsAt }));
        }
    });
}

async function recordCredits(
    trx: Db,
    state: 'low' | 'exhausted',
    { accountId, plan, limit, left, bonus, period, resetsAt }: Spent,
): Promise<void> {
    const data = { plan, credits: { allowance: { limit, remaining: left }, bonus, resets_at: resetsAt.toISOString() } };
    const isNew = await createNotice(trx, { kind: `credits_${state}`, accountId, subject: period, facts: data });
    if (isNew) await recordEvent(trx, { type: `credits.${state}`, accountId, data });
}

async function notifyOfFailures({ db, secrets, publicUrl }: App, streak: Streak): Promise<void> {
    const { accountId, workspaceId, userId, keyId, site, endpoint, lastSuccess, isFailing } = streak;
    const notice = { kind: 'failing', accountId, subject: `${keyId} ${site} ${endpoint}` } as const;
    if (lastSuccess !== null) await endNotice(db, { ...notice, since: lastSuccess });
    if (!isFailing || (await hasNotice(db, notice))) return;
    const code = await failedWith(db, streak);
    const owner = code === undefined ? undefined : await keyOwner(db, keyId);
    if (code === undefined || owner === undefined) return;
    const facts = { keyId, keyName: owner.name, site, endpoint, calls: FAILURES, code };
    await db.transaction(async (trx) => {
        const isNew = await createNotice(trx, { ...notice, workspaceId, userId, facts });
        if (isNew) await queueMail(trx, secrets, failingMail(owner.email, publicUrl(), facts));
    });
}
