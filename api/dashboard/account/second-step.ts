import { isWebToken } from '../../../shared/domain/accounts/web-token.ts';
import { forgetAttempts, takeAttempts } from '../../../shared/store/accounts/attempts.ts';
import { factorsOf, hasFactor, useRecoveryCode } from '../../../shared/store/accounts/factors.ts';
import { queueMail } from '../../../shared/store/accounts/mails.ts';
import { findTicket, makeTicket, useTicket } from '../../../shared/store/accounts/sign-ins.ts';
import { useTotp } from '../../../shared/store/accounts/totp.ts';
import { credentialsOf } from '../../../shared/store/accounts/users.ts';
import { recoveryMail, totpParts } from '../factors/pages.ts';
import { takesPasskeys } from '../factors/webauthn.ts';
import { line, type Problems, readFields, tooManyAttempts, waitText } from '../fields.ts';
import type { Answer, Shown, Visit } from '../page.ts';
import { nextOf, withNext } from './next.ts';
import { optionsForVisitor } from './passkey.ts';
import { type Entrance, startSession } from './start-session.ts';

/** Runs after the first proof was right: signs the user in, or asks for the second factor if there is one. */
export async function afterFirstFactor(visit: Visit, entrance: Entrance, how: 'password' | 'mailed link' = 'password'): Promise<Answer> {
    const { db } = visit.app;
    const { userId, revision, next } = entrance;
    if (!hasFactor(await factorsOf(db, userId))) return startSession(visit, entrance, how);
    return form(visit, { userId, next, ticket: await makeTicket(db, { userId, revision }) }, {});
}

/** Checks a code of the authenticator app or a recovery code. After five attempts the visitor has to wait. */
export async function giveFactor(visit: Visit): Promise<Answer> {
    const { app, fields } = visit;
    const ticket = fields.get('ticket');
    const holder = isWebToken(ticket) ? await findTicket(app.db, ticket) : undefined;
    if (ticket === undefined || holder === undefined) return { to: '/login', notice: 'sign-in-again' };
    const { userId } = holder;
    const step = { ...holder, ticket, next: nextOf(visit) };
    const read = readFields(fields, { code: line({ maxLength: 40 }) });
    if (!read.ok) return form(visit, step, read.problems, 422);
    const wait = await takeAttempts(app.db, [['factor by account', userId]]);
    if (wait > 0) return { ...(await form(visit, step, tooManyAttempts(wait), 429)), retryAfter: wait };
    const { code } = read.values;
    const isApp = /^[\d\s]{6,7}$/.test(code);
    const problem = isApp ? await appProblem(visit, userId, code) : await recoveryProblem(visit, userId, code);
    if (problem !== undefined) return form(visit, step, { code: problem }, 422);
    await forgetAttempts(app.db, [['factor by account', userId]]);
    if (!(await useTicket(app.db, ticket))) return { to: '/login', notice: 'sign-in-again' };
    return startSession(visit, step, isApp ? 'password and code' : 'password and recovery code');
}

async function appProblem(visit: Visit, userId: string, code: string): Promise<string | undefined> {
    const verdict = await useTotp(totpParts(visit), userId, code);
    if (verdict === 'right') return undefined;
    return verdict === 'unreadable'
        ? 'We can no longer check your authenticator app. Enter a recovery code, then set up the app again.'
        : 'This code is wrong, already used, or expired.';
}

async function recoveryProblem(visit: Visit, userId: string, code: string): Promise<string | undefined> {
    const { db, secrets, publicUrl } = visit.app;
    if (!(await useRecoveryCode(db, userId, code))) return 'This is not a valid app code or recovery code.';
    const [{ recoveryCodes }, credentials] = [await factorsOf(db, userId), await credentialsOf(db, userId)];
    if (credentials?.isVerified === true) await queueMail(db, secrets, recoveryMail(credentials.email, publicUrl(), recoveryCodes));
    visit.hurryMail();
    return undefined;
}

async function form(
    visit: Visit,
    { userId, ticket, next }: { userId: string; ticket: string; next: string },
    problems: Problems,
    status = 200,
): Promise<Shown> {
    const { app } = visit;
    const { hasTotp, passkeys } = await factorsOf(app.db, userId);
    const made = passkeys > 0 && takesPasskeys(app) ? await optionsForVisitor(visit, userId) : undefined;
    const shown = (more: { problems: Problems; passkey: string | undefined }): Shown =>
        withNext(visit, next, { view: 'account/second-step', title: 'Second factor', model: { ticket, hasTotp, ...more } });
    if (made === undefined || 'options' in made) return { ...shown({ problems, passkey: made?.options }), status };
    const tooMany = { '': `Too many attempts with passkeys; try again in ${waitText(made.wait)}.`, ...problems };
    return { ...shown({ problems: tooMany, passkey: undefined }), status: status === 200 ? 429 : status, retryAfter: made.wait };
}
