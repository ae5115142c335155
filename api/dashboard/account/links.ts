import { readEmail } from '../../../shared/domain/accounts/email.ts';
import { takeAttempts } from '../../../shared/store/accounts/attempts.ts';
import { findLink, type MailLink, makeLink, useLink } from '../../../shared/store/accounts/mail-links.ts';
import { queueMail } from '../../../shared/store/accounts/mails.ts';
import { isKnownBrowser } from '../../../shared/store/accounts/sign-ins.ts';
import { lockUser } from '../../../shared/store/accounts/user-sessions.ts';
import { changeAddress, credentialsOf, resetPassword, verifyAddress } from '../../../shared/store/accounts/users.ts';
import { type Problems, readFields, secret, waitText } from '../fields.ts';
import type { Notice } from '../notices.ts';
import { type Answer, type PersonalVisit, type Shown, type Visit, words } from '../page.ts';
import { hashPassword, newPasswordProblem, passwordFault } from './check-password.ts';
import { linkAttempt } from './link-attempts.ts';
import { changedMail, verifyMail } from './mails.ts';
import { nextOf, withNext } from './next.ts';
import { afterFirstFactor } from './second-step.ts';

/** Opens a link that confirms an address. Its own user and the browser that signed up need nothing more, others a password. */
export async function showVerify(visit: Visit): Promise<Answer> {
    const link = await findConfirmation(visit, visit.query('token'));
    if (link === undefined) return gone(visit);
    if (isOwn(visit, link)) return (await confirmAddress(visit, link)) ?? gone(visit);
    if (await isWhereSignedUp(visit, link)) return (await confirmWhereSignedUp(visit, link)) ?? gone(visit);
    return verifyForm(visit, link, {});
}

/** Handles the form of the link. It takes the password of the account or, if the address is not confirmed yet, a new password. */
export async function verifyByForm(visit: Visit): Promise<Answer> {
    const link = await findConfirmation(visit, visit.fields.get('token'));
    if (link === undefined) return gone(visit);
    if (isOwn(visit, link)) return (await confirmAddress(visit, link)) ?? gone(visit);
    const takesNew = link.purpose === 'verify' && visit.fields.has('new_password');
    const done = await (takesNew ? takeAddress(visit, link) : confirmWithPassword(visit, link));
    if (done === undefined) return gone(visit);
    return 'problems' in done ? verifyForm(visit, link, done.problems) : done;
}

export async function sendVerifyLink({ app, me, hurryMail }: PersonalVisit): Promise<Answer> {
    if (me.isVerified) return { to: '/dashboard', notice: 'verified' };
    const wait = await takeAttempts(app.db, [linkAttempt({ address: me.email, normalised: me.emailNormalised }, me)]);
    if (wait > 0) {
        const message = `We already sent this link several times. Try again in ${waitText(wait)}.`;
        return { ...words('Too many requests', message, ['/dashboard', 'Back']), retryAfter: wait };
    }
    await app.db.transaction(async (trx) => {
        const linkId = await makeLink(trx, { purpose: 'verify', userId: me.userId, address: me.email });
        await queueMail(trx, app.secrets, verifyMail(me.email, app.publicUrl(), { linkId, next: '' }));
    });
    hurryMail();
    return { to: '/dashboard', notice: 'link-sent' };
}

/** The page for a link that no longer works. A signed-in user with a confirmed address goes to the dashboard instead. */
function gone({ me }: Visit): Answer {
    if (me?.isVerified === true) return { to: '/dashboard' };
    const [where, link] =
        me === undefined
            ? (['Sign in or sign up again to get a new one.', ['/login', 'Sign in']] as const)
            : (['Get a new one in your settings.', ['/dashboard/settings', 'Open settings']] as const);
    return { ...words('This link no longer works', `It was already used, or it has expired. ${where}`, link), status: 410 };
}

/** Finds the link of a token. Undefined if the link confirms nothing, or nothing more. */
async function findConfirmation({ app }: Visit, token: string | undefined): Promise<OpenedLink | undefined> {
    const link = await findLink(app.db, app.secrets, token);
    if (token === undefined || link === undefined || link.purpose === 'reset') return undefined;
    const account = await credentialsOf(app.db, link.userId);
    if (account === undefined || (link.purpose === 'verify' && account.isVerified)) return undefined;
    return { ...link, token, account: account.email };
}

function isOwn({ me }: Visit, link: MailLink): boolean {
    return me?.userId === link.userId;
}

/** Whether nobody is signed in, and this browser signed up: a stranger who signed up with this address used another browser. */
async function isWhereSignedUp({ app, me, browserToken }: Visit, { purpose, userId }: OpenedLink): Promise<boolean> {
    if (me !== undefined || purpose !== 'verify' || browserToken === undefined) return false;
    return isKnownBrowser(app.db, userId, browserToken);
}

function verifyForm(visit: Visit, { token, address, account, purpose }: OpenedLink, problems: Problems): Shown {
    const model = { token, address, account, isChange: purpose === 'change', problems };
    return withNext(visit, nextOf(visit, ''), { view: 'account/verify', title: 'Confirm your address', model });
}

interface OpenedLink extends MailLink {
    token: string;
    /** The account's current address. */
    account: string;
}

/** An answer, problems with the form, or undefined if the link no longer works. */
type Done = Answer | { problems: Problems } | undefined;

async function confirmAddress(visit: Visit, link: OpenedLink): Promise<Answer | undefined> {
    const done = await consume(visit, link);
    return done && { to: nextOf(visit), notice: done };
}

/** Confirms the address in the browser that signed up with it, and signs in there. The browser replaces the password as a proof. */
async function confirmWhereSignedUp(visit: Visit, link: OpenedLink): Promise<Answer | undefined> {
    const before = await credentialsOf(visit.app.db, link.userId);
    const done = before && (await consume(visit, link));
    return (
        done &&
        afterFirstFactor(visit, { userId: link.userId, revision: before.revision, next: nextOf(visit), notice: 'welcome' }, 'mailed link')
    );
}

/** Confirms the address in another browser, by the password of the account, and signs in there. */
async function confirmWithPassword(visit: Visit, link: OpenedLink): Promise<Done> {
    const read = readFields(visit.fields, { password: secret });
    if (!read.ok) return { problems: read.problems };
    const email = readEmail(link.account);
    if (!email.ok) return undefined;
    const before = await credentialsOf(visit.app.db, link.userId);
    if (before === undefined) return undefined;
    const problems = await passwordFault(visit, { userId: link.userId, emailNormalised: email.normalised }, read.values.password);
    if (problems !== undefined) return { problems };
    const done = await consume(visit, link);
    return (
        done &&
        afterFirstFactor(visit, { userId: link.userId, revision: before.revision, next: nextOf(visit), notice: done }, 'mailed link')
    );
}

/**
 * Gives an unconfirmed account to the person who reads its mailbox. Sets a new password and ends all earlier sessions and keys, since
 * somebody else may have signed up with the address.
 */
async function takeAddress(visit: Visit, link: OpenedLink): Promise<Done> {
    const { app } = visit;
    const read = readFields(visit.fields, { new_password: secret });
    if (!read.ok) return { problems: read.problems };
    const weak = newPasswordProblem(read.values.new_password, link.address);
    if (weak !== undefined) return { problems: { new_password: weak } };
    const passwordHash = await hashPassword(visit, { emailNormalised: link.address, isProven: true }, read.values.new_password);
    const revision = await app.db.transaction(async (trx) => {
        await lockUser(trx, link.userId);
        if ((await useLink(trx, app.secrets, link.token)) === undefined) return undefined;
        return resetPassword(trx, link.userId, link.address, { passwordHash, revokeKeys: true });
    });
    if (revision === undefined) return undefined;
    return afterFirstFactor(visit, { userId: link.userId, revision, next: nextOf(visit), notice: 'verified' }, 'mailed link');
}

async function consume(visit: Visit, { token, userId }: OpenedLink): Promise<Notice | undefined> {
    const done = await visit.app.db.transaction(async (trx): Promise<Notice | undefined> => {
        // Lock the user before the link's row, in the same order as all other changes of a user.
        await lockUser(trx, userId);
        const link = await useLink(trx, visit.app.secrets, token);
        if (link === undefined) return undefined;
        if (link.purpose === 'verify') return (await verifyAddress(trx, link.userId, link.address)) ? 'verified' : undefined;
        const email = readEmail(link.address);
        const before = await credentialsOf(trx, link.userId);
        if (!email.ok || before === undefined || !(await changeAddress(trx, link.userId, email))) return undefined;
        await queueMail(trx, visit.app.secrets, changedMail(before.email, email.address));
        return 'address-changed';
    });
    if (done !== undefined) visit.hurryMail();
    return done;
}
