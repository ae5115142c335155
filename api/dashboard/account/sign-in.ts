import { endSession } from '../../../shared/store/accounts/user-sessions.ts';
import { findCredentials } from '../../../shared/store/accounts/users.ts';
import { takesPasskeys } from '../factors/webauthn.ts';
import { address, keepTyped, type Problems, readFields, secret, waitText } from '../fields.ts';
import type { Answer, Shown, Visit } from '../page.ts';
import { addressOf } from '../read-api.ts';
import { checkPassword } from './check-password.ts';
import { mailsConfirm } from './mails.ts';
import { nextOf, withNext } from './next.ts';
import { afterFirstFactor } from './second-step.ts';

/** The form to sign in. `next` is the path to continue to afterwards. */
export async function showSignIn(visit: Visit): Promise<Answer> {
    if (visit.me !== undefined) return { to: nextOf(visit) };
    return form(visit, {});
}

/** Signs in, or says that address and password do not match, without saying which one is wrong. Attempts are counted over all processes. */
export async function signInByForm(visit: Visit): Promise<Answer> {
    const { app, fields } = visit;
    const read = readFields(fields, { email: address, password: secret });
    if (!read.ok) return form(visit, read.problems);
    const { email, password } = read.values;
    const found = await findCredentials(app.db, email.normalised);
    // An unconfirmed account counts as unknown if its address must be confirmed first. Otherwise a stranger could sign up with an address
    // and then test the password of that sign-up: it would work only if nobody had the address.
    const known = found?.isVerified === false && mailsConfirm(app) ? undefined : found;
    const verdict = await checkPassword(visit, { emailNormalised: email.normalised, credentials: known }, password);
    if (typeof verdict === 'object') {
        const problem = `Too many attempts; try again in ${waitText(verdict.wait)}, or reset your password.`;
        return { ...form(visit, { '': problem }), retryAfter: verdict.wait };
    }
    if (known === undefined || verdict === 'wrong') {
        const more = mailsConfirm(app) ? ' If you just signed up, open the link in our email first.' : '';
        return form(visit, { '': `Wrong email address or password.${more}` });
    }
    return afterFirstFactor(visit, { userId: known.userId, revision: known.revision, next: nextOf(visit) });
}

/** Ends the session in the database and deletes its cookie. Another account may then sign in for the page in `next`. */
export async function signOutByForm(visit: Visit): Promise<Answer> {
    if (visit.me !== undefined) await endSession(visit.app.db, visit.me.sessionId);
    return { to: addressOf('/login', { next: nextOf(visit, '') }), notice: 'signed-out', signOut: true };
}

function form(visit: Visit, problems: Problems): Shown {
    const model = { problems, typed: keepTyped(visit.fields), takesPasskeys: takesPasskeys(visit.app) };
    return withNext(visit, nextOf(visit, ''), { view: 'account/sign-in', title: 'Sign in', model });
}
