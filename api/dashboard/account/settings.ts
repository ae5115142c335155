import type { App } from '../../../shared/app.ts';
import { billingOf } from '../../../shared/billing/billing.ts';
import { closeCheckout } from '../../../shared/billing/checkout.ts';
import { endSubscription } from '../../../shared/billing/settle.ts';
import type { Db } from '../../../shared/platform/db.ts';
import { Refusal } from '../../../shared/refusals.ts';
import { listAccess } from '../../../shared/store/accounts/access.ts';
import { setPlan } from '../../../shared/store/accounts/accounts.ts';
import { type Attempt, takeAttempts } from '../../../shared/store/accounts/attempts.ts';
import {
    deleteAccount,
    type LeftWorkspace,
    workspacesLeft,
    workspacesNeedingOwner,
} from '../../../shared/store/accounts/delete-account.ts';
import { makeLink } from '../../../shared/store/accounts/mail-links.ts';
import { queueMail } from '../../../shared/store/accounts/mails.ts';
import { listSignIns } from '../../../shared/store/accounts/sign-ins.ts';
import { endOwnSession, endSessions, listSessions, whileSignedIn } from '../../../shared/store/accounts/user-sessions.ts';
import { changePassword, findCredentials } from '../../../shared/store/accounts/users.ts';
import { findSubscription, isBilled } from '../../../shared/store/billing/subscriptions.ts';
import { isLocked } from '../authorize.ts';
import { address, type Email, keepTyped, type Problems, readFields, secret, waitText } from '../fields.ts';
import { type Answer, type PersonalVisit, pageNotFound, type Shown } from '../page.ts';
import { accessInWords } from './access.ts';
import { hashPassword, newPasswordProblem, passwordFault } from './check-password.ts';
import { linkAttempt } from './link-attempts.ts';
import { changeMail, passwordMail, takenMail } from './mails.ts';
import { browserName } from './start-session.ts';

/** Changes the password and ends all other sessions. */
export async function changePasswordByForm(visit: PersonalVisit): Promise<Answer> {
    const { app, me, fields } = visit;
    const read = readFields(fields, { password: secret, new_password: secret });
    if (!read.ok) return showSettings(visit, { password: read.problems });
    const weak = newPasswordProblem(read.values.new_password, me.email);
    if (weak !== undefined) return showSettings(visit, { password: { new_password: weak } });
    const wrong = await passwordFault(visit, visit.me, read.values.password);
    if (wrong !== undefined) return showSettings(visit, { password: wrong });
    const hash = await hashPassword(visit, { emailNormalised: me.emailNormalised, isProven: true }, read.values.new_password);
    const change = async (trx: Db) => {
        await changePassword(trx, me.userId, hash, me.sessionId);
        // An unconfirmed address may belong to a stranger.
        if (me.isVerified)
            await queueMail(trx, app.secrets, passwordMail(me.email, app.publicUrl(), accessInWords(await listAccess(trx, me.userId))));
    };
    await whileSignedIn(app.db, me, change, { alone: true });
    visit.hurryMail();
    return { to: '/dashboard/settings', notice: 'password-changed' };
}

/** Mails a link that changes the address when it is opened. The answer does not reveal whether the new address has an account. */
export async function changeAddressByForm(visit: PersonalVisit): Promise<Answer> {
    const { app, me, fields, client } = visit;
    const read = readFields(fields, { email: address, password: secret });
    if (!read.ok) return showSettings(visit, { address: read.problems });
    const { email, password } = read.values;
    if (email.address === me.email) return showSettings(visit, { address: { email: 'This is already your address.' } });
    const wrong = await passwordFault(visit, me, password);
    if (wrong !== undefined) return showSettings(visit, { address: wrong });
    const wait = await takeAttempts(app.db, [
        ['foreign mail by user', me.userId],
        ['foreign mail by client', client],
    ]);
    if (wait > 0) {
        const problem = `Too many emails requested. Try again in ${waitText(wait)}.`;
        return { ...(await showSettings(visit, { address: { email: problem } })), retryAfter: wait };
    }
    visit.later(() => mailChange(visit, email));
    return { to: '/dashboard/settings', notice: 'address-pending' };
}

/** Mails a link to the new address, or a notice to the account that has it. Answer and response time are the same. */
async function mailChange({ app, me, hurryMail }: PersonalVisit, email: Email): Promise<void> {
    const holder = await findCredentials(app.db, email.normalised);
    const isTaken = holder !== undefined && holder.userId !== me.userId;
    const attempt: Attempt = isTaken ? ['notice by address', email.normalised] : linkAttempt(email, holder);
    if ((await takeAttempts(app.db, [attempt])) > 0) return;
    await whileSignedIn(app.db, me, async (trx) => {
        if (isTaken) return queueMail(trx, app.secrets, takenMail(holder.email));
        const linkId = await makeLink(trx, { purpose: 'change', userId: me.userId, address: email.address });
        return queueMail(trx, app.secrets, changeMail(email.address, app.publicUrl(), linkId));
    });
    hurryMail();
}

export async function endOtherSessions({ app, me }: PersonalVisit): Promise<Answer> {
    await whileSignedIn(app.db, me, (trx) => endSessions(trx, me.userId, me.sessionId), { alone: true });
    return { to: '/dashboard/settings', notice: 'sessions-ended' };
}

export async function endOneSession({ app, me, params }: PersonalVisit): Promise<Answer> {
    if (!(await endOwnSession(app.db, me.userId, params['session_id'] ?? ''))) throw pageNotFound();
    return { to: '/dashboard/settings', notice: 'session-ended' };
}

/** Ends the subscriptions and then deletes the account. Refused if a workspace with other members would be left without an owner. */
export async function deleteByForm(visit: PersonalVisit): Promise<Answer> {
    const { app, me, fields } = visit;
    const read = readFields(fields, { password: secret });
    if (!read.ok) return showSettings(visit, { deletion: read.problems });
    const wrong = await passwordFault(visit, visit.me, read.values.password);
    if (wrong !== undefined) return showSettings(visit, { deletion: wrong });
    // Deleting the account changes these workspaces: the user leaves them, and an empty one loses its plan. So it needs their required
    // second factor.
    const locked = me.workspaces.filter((membership) => isLocked(me, membership)).map(({ name }) => name);
    if (locked.length > 0) {
        return showSettings(visit, {
            deletion: { '': `Set up a second factor first. These workspaces require one: ${locked.join(', ')}.` },
        });
    }
    const workspaces = await workspacesLeft(app.db, me.userId);
    const orphans = workspacesNeedingOwner(workspaces).map(({ name }) => name);
    if (orphans.length > 0)
        return showSettings(visit, { deletion: { '': `Make someone else an owner of these workspaces first: ${orphans.join(', ')}.` } });
    await endSubscriptions(app, workspaces);
    const isDone = await whileSignedIn(app.db, me, (trx) => deleteAccount(trx, me.userId), { alone: true });
    if (!isDone) return showSettings(visit, { deletion: { '': 'One of your workspaces has changed. Please try again.' } });
    return { to: '/', notice: 'account-deleted', signOut: true };
}

interface FormProblems {
    password?: Problems;
    address?: Problems;
    deletion?: Problems;
}

/** Shows the settings of the account: password, address, sessions, and deletion. */
export async function showSettings({ app, me, fields }: PersonalVisit, problems: FormProblems = {}): Promise<Shown> {
    const [sessions, signIns] = await Promise.all([listSessions(app.db, me.userId), listSignIns(app.db, me.userId)]);
    return {
        view: 'account/settings',
        title: 'Settings',
        model: {
            problems,
            typed: keepTyped(fields),
            sessions: sessions.map((row) => ({ ...row, browser: browserName(row.browser), isThis: row.sessionId === me.sessionId })),
            signIns: signIns.map((row) => ({ ...row, browser: browserName(row.browser) })),
        },
    };
}

/**
 * Ends the subscriptions of workspaces without other members, so that nobody pays for an unusable workspace. Workspaces with other members
 * keep theirs. Rejects if a subscription could not be ended; then nothing is deleted.
 */
export async function endSubscriptions(app: App, workspaces: readonly LeftWorkspace[]): Promise<void> {
    const billing = billingOf(app);
    for (const { workspaceId, plan, members } of workspaces) {
        if (members !== 1) continue;
        // Otherwise an open checkout in another tab could be paid after this.
        if (billing !== undefined) await closeCheckout(billing, workspaceId);
        const subscription = await findSubscription(app.db, workspaceId);
        if (subscription !== undefined && isBilled(subscription)) {
            if (billing === undefined)
                throw new Refusal('SERVICE_UNAVAILABLE', 'Your subscription cannot be ended from here now; ask the operator.');
            await endSubscription(billing, workspaceId, subscription.subscriptionId, 'deletion');
        }
        if (plan !== 'free') await setPlan(app.db, workspaceId, 'free', {});
    }
}
