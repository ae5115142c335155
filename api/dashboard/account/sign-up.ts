import { takeAttempts } from '../../../shared/store/attempts.ts';
import { findCredentials } from '../../../shared/store/credentials.ts';
import { findInviter } from '../../../shared/store/invitations.ts';
import { makeLink } from '../../../shared/store/mail-links.ts';
import { queueMail } from '../../../shared/store/mails.ts';
import { signUp } from '../../../shared/store/sign-up.ts';
import { originsBehind } from '../billing/upgrade.ts';
import { type Problems, readFields, secret, typed } from '../fields.ts';
import { ownPath } from '../let-in.ts';
import type { Answer, Shown, Visit } from '../page.ts';
import { begin } from './begin.ts';
import { hashPassword } from './check-password.ts';
import { address, waitText } from './fields.ts';
import { verifyLetter } from './letters.ts';
import { newPasswordProblem } from './new-password.ts';

/** The form for a new account; `invite` is the code of somebody's link. */
export async function showSignUp(visit: Visit): Promise<Answer> {
    if (visit.me !== undefined) return { to: '/dashboard' };
    return form(visit, {});
}

/** Makes an account that works at once: without a card, and with SMTP_URL after the address is confirmed. */
export async function signUpByForm(visit: Visit): Promise<Answer> {
    const { app, fields, client } = visit;
    const read = readFields(fields, { email: address, password: secret });
    if (!read.ok) return form(visit, read.problems, 422);
    const { email, password } = read.values;
    const weak = newPasswordProblem(password, email.address);
    if (weak !== undefined) return form(visit, { password: weak }, 422);
    const wait = await takeAttempts(app.db, [
        ['sign-up by client, hour', client],
        ['sign-up by client, day', client],
        ['foreign mail by client', client],
    ]);
    if (wait > 0)
        return { ...form(visit, { '': `Too many sign-ups from your address; try again in ${waitText(wait)}.` }, 429), retryAfter: wait };
    if ((await findCredentials(app.db, email.normalised)) !== undefined) return form(visit, KNOWN, 422);

    const passwordHash = await hashPassword(visit, { emailNormalised: email.normalised, isProven: false }, password);
    const invitedBy = await findInviter(app.db, fields.get('invite') ?? '');
    const userId = await app.db.transaction(async (trx) => {
        const made = await signUp(trx, { email, passwordHash, invitedBy });
        if (made === undefined) return undefined;
        const linkId = await makeLink(trx, { purpose: 'verify', userId: made, address: email.address });
        await queueMail(trx, app.secrets, verifyLetter(email.address, app.publicUrl(), linkId));
        return made;
    });
    if (userId === undefined) return form(visit, KNOWN, 422);
    return begin(visit, { userId, next: ownPath(fields.get('next'), '/dashboard'), notice: 'welcome' }, 'sign-up');
}

const KNOWN: Problems = { email: 'This address has an account here: sign in, or ask for a new password.' };

function form(visit: Visit, problems: Problems, status = 200): Shown {
    const { app, fields, query } = visit;
    const next = ownPath(fields.get('next') ?? query('next'), '');
    const invite = fields.get('invite') ?? query('invite') ?? '';
    return {
        view: 'account/sign-up',
        title: 'Sign up',
        status,
        formsLeadTo: originsBehind(app, next),
        model: {
            problems,
            typed: typed(fields),
            invite: /^[0-9A-Za-z]{1,40}$/.test(invite) ? invite : '',
            next,
        },
    };
}
