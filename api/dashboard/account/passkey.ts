import { takeAttempts } from '../../../shared/store/accounts/attempts.ts';
import { requestOptions, takesPasskeys, userOfPasskey } from '../factors/webauthn.ts';
import { type Problems, tooManyAttempts } from '../fields.ts';
import type { Answer, Shown, Visit } from '../page.ts';
import { nextOf, withNext } from './next.ts';
import { startSession } from './start-session.ts';

export async function showPasskeySignIn(visit: Visit): Promise<Answer> {
    if (visit.me !== undefined) return { to: nextOf(visit) };
    return form(visit, {});
}

/** Signs in with a passkey. It needs neither password nor code, since the authenticator verified its user. */
export async function signInByPasskey(visit: Visit): Promise<Answer> {
    const { app, fields } = visit;
    const proven = takesPasskeys(app) ? await userOfPasskey(app, fields.get('credential') ?? '') : undefined;
    if (proven === undefined) return form(visit, { '': 'This passkey was not accepted. Try again, or sign in with your password.' });
    return startSession(visit, { ...proven, next: nextOf(visit) }, 'passkey');
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
    const shown = (model: { problems: Problems; passkey: string | undefined }): Shown =>
        withNext(visit, nextOf(visit, ''), { view: 'account/passkey', title: 'Sign in with a passkey', model });
    if (!takesPasskeys(visit.app)) return shown({ problems, passkey: undefined });
    const made = await optionsForVisitor(visit);
    if ('options' in made) return shown({ problems, passkey: made.options });
    return { ...shown({ problems: tooManyAttempts(made.wait), passkey: undefined }), retryAfter: made.wait };
}
