import { forgetAttempts, takeAttempts } from '../../../shared/store/accounts/attempts.ts';
import { factorsOf } from '../../../shared/store/accounts/factors.ts';
import { queueMail } from '../../../shared/store/accounts/mails.ts';
import { confirmSession, makeSessionCode, useSessionCode } from '../../../shared/store/accounts/user-sessions.ts';
import { credentialsOf } from '../../../shared/store/accounts/users.ts';
import { requestOptions, takesPasskeys, userOfPasskey } from '../factors/webauthn.ts';
import { line, type Problems, readFields, secret, tooManyAttempts } from '../fields.ts';
import type { Answer, PersonalVisit, Shown } from '../page.ts';
import { passwordFault } from './check-password.ts';
import { codeMail } from './mails.ts';
import { nextOf, withNext } from './next.ts';

/** Accepts a passkey or the password, or a mailed code from users who have neither. Then redirects to `next`. */
export async function confirmByForm(visit: PersonalVisit): Promise<Answer> {
    const { app, me, fields } = visit;
    const problems = fields.has('credential')
        ? await passkeyProblems(visit)
        : (await hasPassword(visit))
          ? await passwordProblems(visit)
          : await codeProblems(visit);
    if (problems !== undefined) return showConfirm(visit, problems);
    await confirmSession(app.db, me.sessionId);
    return { to: nextOf(visit), notice: 'confirmed' };
}

/** Mails a code to a user without password and passkey. */
export async function mailCode(visit: PersonalVisit): Promise<Answer> {
    const { app, me } = visit;
    if ((await hasPassword(visit)) || (await hasPasskey(visit))) return showConfirm(visit, {}, CONFIRM);
    const wait = await takeAttempts(app.db, [['code mailed to user', me.userId]]);
    if (wait > 0) return { ...(await showConfirm(visit, tooManyAttempts(wait), CONFIRM)), retryAfter: wait };
    await app.db.transaction(async (trx) => {
        await queueMail(trx, app.secrets, codeMail(me.email, app.publicUrl(), await makeSessionCode(trx, me.sessionId)));
    });
    visit.hurryMail();
    return { to: `/dashboard/confirm?next=${encodeURIComponent(nextOf(visit))}`, notice: 'code-sent' };
}

async function passwordProblems(visit: PersonalVisit): Promise<Problems | undefined> {
    const read = readFields(visit.fields, { password: secret });
    return read.ok ? passwordFault(visit, visit.me, read.values.password) : read.problems;
}

async function passkeyProblems({ app, me, fields }: PersonalVisit): Promise<Problems | undefined> {
    const proven = takesPasskeys(app) ? await userOfPasskey(app, fields.get('credential') ?? '', me.userId) : undefined;
    return proven?.userId === me.userId ? undefined : { '': 'This passkey was not accepted.' };
}

async function codeProblems({ app, me, fields }: PersonalVisit): Promise<Problems | undefined> {
    const read = readFields(fields, { code: line({ maxLength: 20 }) });
    if (!read.ok) return read.problems;
    const wait = await takeAttempts(app.db, [['code by session', me.sessionId]]);
    if (wait > 0) return tooManyAttempts(wait);
    if (!(await useSessionCode(app.db, me.sessionId, read.values.code))) return { code: 'This code is wrong or has expired.' };
    await forgetAttempts(app.db, [['code by session', me.sessionId]]);
    return undefined;
}

async function hasPassword({ app, me }: PersonalVisit): Promise<boolean> {
    return ((await credentialsOf(app.db, me.userId))?.passwordHash ?? null) !== null;
}

async function hasPasskey({ app, me }: PersonalVisit): Promise<boolean> {
    return takesPasskeys(app) && (await factorsOf(app.db, me.userId)).passkeys > 0;
}

const CONFIRM = '/dashboard/confirm';

/**
 * Asks the signed-in user to prove their identity again, before a step that could give the account to somebody else.
 * @param action where the forms are sent; absent: to the address of the page, which keeps the fragment of `next`
 */
export async function showConfirm(visit: PersonalVisit, problems: Problems = {}, action?: string): Promise<Shown> {
    const { app, me } = visit;
    const passkey = (await hasPasskey(visit))
        ? JSON.stringify(await requestOptions(app, { owner: me.userId, signedIn: me.userId }))
        : undefined;
    const model = { problems, action, hasPassword: await hasPassword(visit), passkey };
    return withNext(visit, nextOf(visit), { view: 'account/confirm', title: 'Confirm your identity', model });
}
