import { listAccess } from '../../../shared/store/accounts/access.ts';
import { forgetAttempts, takeAttempts } from '../../../shared/store/accounts/attempts.ts';
import { findLink, makeLink, useLink } from '../../../shared/store/accounts/mail-links.ts';
import { queueMail } from '../../../shared/store/accounts/mails.ts';
import { lockUser } from '../../../shared/store/accounts/user-sessions.ts';
import { credentialsOf, findCredentials, resetPassword } from '../../../shared/store/accounts/users.ts';
import { address, keepTyped, type Problems, readFields, secret, tick, waitText } from '../fields.ts';
import { MAIL_PRINTED } from '../notices.ts';
import { type Answer, type Shown, type Visit, words } from '../page.ts';
import { ACCESS_PATH, accessInWords } from './access.ts';
import { hashPassword, newPasswordProblem } from './check-password.ts';
import { linkAttempt } from './link-attempts.ts';
import { passwordMail, resetMail } from './mails.ts';
import { afterFirstFactor } from './second-step.ts';

/** Mails a link if the address has an account. Answer and response time are the same if it has none. */
export async function forgotByForm(visit: Visit): Promise<Answer> {
    const { app, fields, client } = visit;
    const read = readFields(fields, { email: address });
    if (!read.ok) return showForgot(visit, read.problems);
    const { email } = read.values;
    const wait = await takeAttempts(app.db, [
        ['link by client', client],
        ['foreign mail by client', client],
    ]);
    if (wait > 0) {
        const problem = `Too many requests from your network. Try again in ${waitText(wait)}.`;
        return { ...(await showForgot(visit, { '': problem })), retryAfter: wait };
    }
    visit.later(async () => {
        const known = await findCredentials(app.db, email.normalised);
        if (known === undefined || (await takeAttempts(app.db, [linkAttempt(email, known)])) > 0) return;
        await app.db.transaction(async (trx) => {
            // A confirmed address gets the mail in its confirmed spelling, since another spelling with the same normalised form may be
            // another mailbox. An unconfirmed address gets it as typed now, since the spelling from sign-up may reach nobody.
            const address = known.isVerified ? known.email : email.address;
            const linkId = await makeLink(trx, { purpose: 'reset', userId: known.userId, address });
            await queueMail(trx, app.secrets, resetMail(address, app.publicUrl(), linkId));
        });
        visit.hurryMail();
    });
    const sent = `If ${email.address} has an account, we sent it a link to choose a new password. The link expires in an hour.`;
    const message = app.config.mail.smtpUrl === undefined ? `${sent} ${MAIL_PRINTED}` : sent;
    return words('Check your email', message, ['/login', 'Back to sign in']);
}

/** The form for a new password, which the mailed link opens. */
export async function showReset(visit: Visit): Promise<Answer> {
    const token = visit.query('token');
    if ((await findReset(visit, token)) === undefined) return tooLate();
    return resetForm(token ?? '', {});
}

/**
 * Sets the password, ends all sessions and signs in here, since opening the link proves that the visitor reads the mailbox. Shows and mails
 * what works without a session, since a thief may have made it.
 */
export async function resetByForm(visit: Visit): Promise<Answer> {
    const { app, fields } = visit;
    const token = fields.get('token') ?? '';
    const link = await findReset(visit, token);
    if (link === undefined) return tooLate();
    const read = readFields(fields, { password: secret, revoke_keys: tick });
    if (!read.ok) return resetForm(token, read.problems);
    const weak = newPasswordProblem(read.values.password, link.address);
    if (weak !== undefined) return resetForm(token, { password: weak });
    const passwordHash = await hashPassword(visit, { emailNormalised: link.addressNormalised, isProven: true }, read.values.password);
    const done = await app.db.transaction(async (trx) => {
        await lockUser(trx, link.userId);
        const account = await credentialsOf(trx, link.userId);
        // The link was mailed to another spelling, before the current one was confirmed.
        if (account?.isVerified === true && account.email !== link.address) return undefined;
        if ((await useLink(trx, app.secrets, token)) === undefined) return undefined;
        const revision = await resetPassword(trx, link.userId, link.address, { passwordHash, revokeKeys: read.values.revoke_keys });
        const left = await listAccess(trx, link.userId);
        await queueMail(trx, app.secrets, passwordMail(link.address, app.publicUrl(), accessInWords(left)));
        // The first password of an account that an operator made is no reset.
        const isReset = account !== undefined && account.passwordHash !== null;
        return { revision, next: isReset && left.length > 0 ? ACCESS_PATH : '/dashboard' };
    });
    if (done === undefined) return tooLate();
    await forgetAttempts(app.db, [['sign-in by account', link.addressNormalised]]);
    visit.hurryMail();
    return afterFirstFactor(visit, { userId: link.userId, ...done, notice: 'password-set' }, 'mailed link');
}

async function findReset({ app }: Visit, token: string | undefined) {
    const link = await findLink(app.db, app.secrets, token);
    if (link?.purpose !== 'reset') return undefined;
    const email = address(link.address);
    return { ...link, addressNormalised: email.ok ? email.value.normalised : link.address };
}

/** The form for a forgotten password. */
export async function showForgot({ fields }: Visit, problems: Problems = {}): Promise<Shown> {
    return { view: 'account/forgot', title: 'Forgot your password?', model: { problems, typed: keepTyped(fields) } };
}

function resetForm(token: string, problems: Problems): Shown {
    return { view: 'account/reset', title: 'Choose a new password', model: { token, problems } };
}

function tooLate(): Shown {
    const message = 'It was already used, or it has expired. Request a new one.';
    return { ...words('This link no longer works', message, ['/forgot', 'Send a new link']), status: 410 };
}
