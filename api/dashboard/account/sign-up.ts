import { newWebToken } from '../../../shared/domain/accounts/web-token.ts';
import type { Db } from '../../../shared/platform/db.ts';
import { type Attempt, takeAttempts } from '../../../shared/store/accounts/attempts.ts';
import { makeLink } from '../../../shared/store/accounts/mail-links.ts';
import { queueMail } from '../../../shared/store/accounts/mails.ts';
import { findInviter } from '../../../shared/store/accounts/referrals.ts';
import { knowBrowser } from '../../../shared/store/accounts/sign-ins.ts';
import { signUp } from '../../../shared/store/accounts/sign-up.ts';
import { findCredentials } from '../../../shared/store/accounts/users.ts';
import { BONUSES } from '../../../shared/store/credits/bonuses.ts';
import { address, type Email, keepTyped, type Problems, readFields, secret, waitText } from '../fields.ts';
import { type Answer, type Shown, type Visit, words } from '../page.ts';
import { hashPassword, newPasswordProblem } from './check-password.ts';
import { linkAttempt } from './link-attempts.ts';
import { knownMail, mailsConfirm, verifyMail } from './mails.ts';
import { nextOf, withNext } from './next.ts';
import { startSession } from './start-session.ts';

/** The form for a new account; `invite` is the code of a referral link. */
export async function showSignUp(visit: Visit): Promise<Answer> {
    if (visit.me !== undefined) return { to: '/dashboard' };
    return form(visit, {});
}

/**
 * Creates an account. With a mail server the answer is the same whether or not the address already has an account; only the mail differs.
 * Without a mail server nobody could open a mailed link. Then the account works at once, and the form says if the address is taken.
 */
export async function signUpByForm(visit: Visit): Promise<Answer> {
    const { app, fields, client } = visit;
    const read = readFields(fields, { email: address, password: secret });
    if (!read.ok) return form(visit, read.problems);
    const { email, password } = read.values;
    const weak = newPasswordProblem(password, email.address);
    if (weak !== undefined) return form(visit, { password: weak });
    // Also for an address with an account, so that the response time does not reveal it. First, so that a sign-up does not count if too
    // many passwords of its client are hashed in this minute.
    const passwordHash = await hashPassword(visit, { emailNormalised: email.normalised, isProven: false }, password);
    const wait = await takeAttempts(app.db, [
        ['sign-up by client', client],
        ['foreign mail by client', client],
    ]);
    if (wait > 0)
        return { ...form(visit, { '': `Too many sign-ups from your network. Try again in ${waitText(wait)}.` }), retryAfter: wait };
    const browserToken = visit.browserToken ?? newWebToken();
    const order = { email, passwordHash, browserToken };
    if (mailsConfirm(app)) {
        visit.later(() => signUpByMail(visit, order));
        return lookIntoMail(email.address, browserToken);
    }
    const userId = await makeUser(visit, order);
    if (userId === undefined) return form(visit, KNOWN);
    visit.hurryMail();
    return startSession(visit, { userId, revision: 0, next: nextOf(visit), notice: 'welcome' }, 'sign-up');
}

interface Order {
    email: Email;
    passwordHash: string;
    browserToken: string;
}

/**
 * Runs after the answer. Creates an account and mails its link. If the address has an account, mails another link to an unconfirmed address
 * or a notice to the owner of a confirmed one.
 */
async function signUpByMail(visit: Visit, order: Order): Promise<void> {
    const { app, hurryMail } = visit;
    const { normalised } = order.email;
    if ((await makeUser(visit, order)) === undefined) {
        const known = await findCredentials(app.db, normalised);
        if (known === undefined) return;
        const attempt: Attempt = known.isVerified ? ['notice by address', normalised] : linkAttempt(order.email, known);
        if ((await takeAttempts(app.db, [attempt])) > 0) return;
        await app.db.transaction((trx) =>
            known.isVerified
                ? queueMail(trx, app.secrets, knownMail(known.email, app.publicUrl()))
                : // In the spelling typed now, since the earlier one may reach nobody.
                  mailVerifyLink(trx, visit, { userId: known.userId, address: order.email.address }),
        );
    }
    hurryMail();
}

/** Creates the user and queues the mail that confirms the address, in one transaction. Undefined if the address has an account. */
async function makeUser(visit: Visit, { email, passwordHash, browserToken }: Order): Promise<string | undefined> {
    const { app, fields, address: from } = visit;
    const invitedBy = await findInviter(app.db, fields.get('invite') ?? '');
    return app.db.transaction(async (trx) => {
        const made = await signUp(trx, { email, passwordHash, invitedBy, address: from });
        if (made === undefined) return undefined;
        await knowBrowser(trx, made, browserToken);
        await mailVerifyLink(trx, visit, { userId: made, address: email.address });
        return made;
    });
}

async function mailVerifyLink(trx: Db, visit: Visit, to: { userId: string; address: string }): Promise<void> {
    const { secrets, publicUrl } = visit.app;
    const linkId = await makeLink(trx, { purpose: 'verify', ...to });
    await queueMail(trx, secrets, verifyMail(to.address, publicUrl(), { linkId, next: nextOf(visit, '') }));
}

/** Sets the browser's cookie, so that the link signs in at once if it is opened in this browser. */
function lookIntoMail(to: string, browserToken: string): Shown {
    const message = `We sent an email to ${to}. Open its link to continue, ideally in this browser. No email? Check your spam folder, or sign up again in a few minutes.`;
    return { ...words('Check your email', message, ['/login', 'Back to sign in']), browserToken };
}

const KNOWN: Problems = { email: 'This address already has an account. Sign in or reset your password.' };

function form(visit: Visit, problems: Problems): Shown {
    const { fields, query } = visit;
    const written = fields.get('invite') ?? query('invite') ?? '';
    const invite = /^[0-9A-Za-z]{1,40}$/.test(written) ? written : '';
    const model = { problems, typed: keepTyped(fields), invite, bonuses: BONUSES };
    return withNext(visit, nextOf(visit, ''), { view: 'account/sign-up', title: 'Sign up', model });
}
