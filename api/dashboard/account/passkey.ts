import { takeAttempts } from '../../../shared/store/accounts/attempts.ts';
import { ownPath } from '../authorize.ts';
import { originsBehind } from '../billing/upgrade.ts';
import { requestOptions, takesPasskeys, userOfPasskey } from '../factors/webauthn.ts';
import type { Problems } from '../fields.ts';
import type { Answer, Visit } from '../page.ts';
import { begin } from './begin.ts';
import { waitText } from './fields.ts';

/** The page on which a browser uses a passkey. */
export async function showPasskeySignIn(visit: Visit): Promise<Answer> {
    if (visit.me !== undefined) return { to: ownPath(visit.query('next'), '/dashboard') };
    return form(visit, {});
}

/** Signs in with a passkey. It needs neither password nor code, since the authenticator verified its user. */
export async function signInByPasskey(visit: Visit): Promise<Answer> {
    const { app, fields } = visit;
    const proven = takesPasskeys(app) ? await userOfPasskey(app, fields.get('credential') ?? '') : undefined;
    if (proven === undefined) return form(visit, { '': 'This passkey was not accepted. Try again, or sign in with your password.' }, 422);
    return begin(visit, { ...proven, next: ownPath(fields.get('next'), '/dashboard') }, 'passkey');
}

async function form({ app, client, fields, query }: Visit, problems: Problems, status = 200): Promise<Answer> {
    const next = ownPath(fields.get('next') ?? query('next'), '');
    const shown = { view: 'account/passkey', title: 'Sign in with a passkey', formsLeadTo: originsBehind(app, next) };
    if (!takesPasskeys(app)) return { ...shown, status, model: { problems, next, passkey: undefined } };
    const wait = await takeAttempts(app.db, [['passkey by client', client]]);
    if (wait > 0) {
        const tooMany = { '': `Too many attempts; try again in ${waitText(wait)}.` };
        return { ...shown, status: 429, retryAfter: wait, model: { problems: tooMany, next, passkey: undefined } };
    }
    return { ...shown, status, model: { problems, next, passkey: JSON.stringify(await requestOptions(app, {})) } };
}
