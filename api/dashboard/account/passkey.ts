import { takeAttempts } from '../../../shared/store/accounts/attempts.ts';
import { ownPath } from '../authorize.ts';
import { originsBehind } from '../billing/upgrade.ts';
import { requestOptions, takesPasskeys, userOfPasskey } from '../factors/webauthn.ts';
import type { Problems } from '../fields.ts';
import type { Answer, Visit } from '../page.ts';
import { waitText } from './fields.ts';
import { startSession } from './start-session.ts';

export async function showPasskeySignIn(visit: Visit): Promise<Answer> {
    if (visit.me !== undefined) return { to: ownPath(visit.query('next'), '/dashboard') };
    return form(visit, {});
}

/** Signs in with a passkey. It needs neither password nor code, since the authenticator verified its user. */
export async function signInByPasskey(visit: Visit): Promise<Answer> {
    const { app, fields } = visit;
    const proven = takesPasskeys(app) ? await userOfPasskey(app, fields.get('credential') ?? '') : undefined;
    if (proven === undefined) return form(visit, { '': 'This passkey was not accepted. Try again, or sign in with your password.' });
    return startSession(visit, { ...proven, next: ownPath(fields.get('next'), '/dashboard') }, 'passkey');
}

/**
 * Options for a visitor who is not signed in, as JSON, or the seconds until the client gets some again. Each has a challenge, which is
 * stored until it expires.
 * @param owner whose passkeys are allowed; any user's by default
 */
export async function optionsForVisitor({ app, client }: Visit, owner?: string): Promise<{ options: string } | { wait: number }> {
    const wait = await takeAttempts(app.db, [['passkey by client', client]]);
    if (wait > 0) return { wait };
    return { options: JSON.stringify(await requestOptions(app, owner === undefined ? {} : { owner })) };
}

async function form(visit: Visit, problems: Problems): Promise<Answer> {
    const { app, fields, query } = visit;
    const next = ownPath(fields.get('next') ?? query('next'), '');
    const shown = { view: 'account/passkey', title: 'Sign in with a passkey', formsLeadTo: originsBehind(app, next) };
    if (!takesPasskeys(app)) return { ...shown, model: { problems, next, passkey: undefined } };
    const made = await optionsForVisitor(visit);
    if ('options' in made) return { ...shown, model: { problems, next, passkey: made.options } };
    const tooMany = { '': `Too many attempts; try again in ${waitText(made.wait)}.` };
    return { ...shown, retryAfter: made.wait, model: { problems: tooMany, next, passkey: undefined } };
}
