import { forgetAttempts, takeAttempts } from '../../../shared/store/attempts.ts';
import { findCredentials, resetPassword } from '../../../shared/store/credentials.ts';
import { findLink, makeLink, useLink } from '../../../shared/store/mail-links.ts';
import { queueMail } from '../../../shared/store/mails.ts';
import { type Problems, readFields, secret, tick, typed } from '../fields.ts';
import type { Answer, Shown, Visit } from '../page.ts';
import { hashPassword } from './check-password.ts';
import { enter } from './enter.ts';
import { address, waitText } from './fields.ts';
import { passwordLetter, resetLetter } from './letters.ts';
import { newPasswordProblem } from './new-password.ts';

/** The form for whoever forgot the password. */
export async function showForgot(visit: Visit): Promise<Answer> {
    return forgotForm(visit, {});
}

/** Mails a link where the address has an account. The answer is the same where it has none, and comes as fast. */
export async function forgotByForm(visit: Visit): Promise<Answer> {
    const { app, fields, client } = visit;
    const read = readFields(fields, { email: address });
    if (!read.ok) return forgotForm(visit, read.problems, 422);
    const { email } = read.values;
    const wait = await takeAttempts(app.db, [
        ['link by client', client],
        ['foreign mail by client', client],
    ]);
    if (wait > 0) {
        return {
            ...forgotForm(visit, { '': `Too many requests from your address; try again in ${waitText(wait)}.` }, 429),
            retryAfter: wait,
        };
    }
    visit.later(async () => {
        if ((await takeAttempts(app.db, [['link by address', email.normalised]])) > 0) return;
        const known = await findCredentials(app.db, email.normalised);
        if (known === undefined) return;
        await app.db.transaction(async (trx) => {
            // To the address that is known: the typed one may differ in what normalising takes away.
            const linkId = await makeLink(trx, { purpose: 'reset', userId: known.userId, address: known.email });
            await queueMail(trx, app.secrets, resetLetter(known.email, app.publicUrl(), linkId));
        });
        visit.hurryMail();
    });
    const title = 'Look into your mail';
    const message = `If ${email.address} has an account here, a link to choose a new password is on its way. It works for an hour.`;
    return { view: 'account/words', title, model: { title, message, link: '/login', label: 'Back to sign in' } };
}

/** The form for a new password, behind the mailed link. */
export async function showReset(visit: Visit): Promise<Answer> {
    const token = visit.query('token');
    if ((await resetting(visit, token)) === undefined) return tooLate();
    return resetForm(token ?? '', {});
}

/** Sets the password, ends every session, and signs in here: whoever opened the link reads the address. */
export async function resetByForm(visit: Visit): Promise<Answer> {
    const { app, fields } = visit;
    const token = fields.get('token') ?? '';
    const link = await resetting(visit, token);
    if (link === undefined) return tooLate();
    const read = readFields(fields, { password: secret, revoke_keys: tick });
    if (!read.ok) return resetForm(token, read.problems, 422);
    const weak = newPasswordProblem(read.values.password, link.address);
    if (weak !== undefined) return resetForm(token, { password: weak }, 422);
    const passwordHash = await hashPassword(visit, { emailNormalised: link.addressNormalised, isProven: true }, read.values.password);
    const isDone = await app.db.transaction(async (trx) => {
        if ((await useLink(trx, app.secrets, token)) === undefined) return false;
        await resetPassword(trx, link.userId, link.address, { passwordHash, revokeKeys: read.values.revoke_keys });
        await queueMail(trx, app.secrets, passwordLetter(link.address));
        return true;
    });
    if (!isDone) return tooLate();
    await forgetAttempts(app.db, [['sign-in by account', link.addressNormalised]]);
    visit.hurryMail();
    return enter(visit, { userId: link.userId, next: '/dashboard', notice: 'password-set' }, 'mailed link');
}

async function resetting({ app }: Visit, token: string | undefined) {
    const link = await findLink(app.db, app.secrets, token);
    if (link?.purpose !== 'reset') return undefined;
    const email = address(link.address);
    return { ...link, addressNormalised: email.ok ? email.value.normalised : link.address };
}

function forgotForm({ fields }: Visit, problems: Problems, status = 200): Shown {
    return { view: 'account/forgot', title: 'Forgot your password?', status, model: { problems, typed: typed(fields) } };
}

function resetForm(token: string, problems: Problems, status = 200): Shown {
    return { view: 'account/reset', title: 'Choose a new password', status, model: { token, problems } };
}

function tooLate(): Shown {
    const title = 'This link no longer works';
    const message = 'It was used already, or it is older than an hour. Ask for another one.';
    return { view: 'account/words', title, status: 410, model: { title, message, link: '/forgot', label: 'Send another link' } };
}
