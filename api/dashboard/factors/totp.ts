import { forgetAttempts, takeAttempts } from '../../../shared/store/accounts/attempts.ts';
import { factorsOf } from '../../../shared/store/accounts/factors.ts';
import { confirmTotp, pendingTotp, removeTotp, type TotpParts } from '../../../shared/store/accounts/totp.ts';
import { whileSignedIn } from '../../../shared/store/accounts/user-sessions.ts';
import { tooManyAttempts } from '../account/fields.ts';
import { line, type Problems, readFields } from '../fields.ts';
import type { Answer, PersonalVisit, Visit } from '../page.ts';
import { addedFactor, removedFactor } from './changed.ts';

/** Adds the authenticator app after checking its first code. */
export async function addTotp(visit: PersonalVisit): Promise<Answer> {
    const { app, me, fields } = visit;
    const read = readFields(fields, { code: line({ maxLength: 20 }) });
    if (!read.ok) return showTotp(visit, read.problems);
    const wait = await takeAttempts(app.db, [['factor by account', me.userId]]);
    if (wait > 0) return { ...(await showTotp(visit, tooManyAttempts(wait))), retryAfter: wait };
    const { code } = read.values;
    const verdict = await whileSignedIn(app.db, me, (db) => confirmTotp({ ...totpParts(visit), db }, me.userId, code));
    if (verdict !== 'right') return showTotp(visit, { code: 'This code is wrong or has expired. Enter the next one.' });
    await forgetAttempts(app.db, [['factor by account', me.userId]]);
    return addedFactor(visit, 'an authenticator app');
}

export async function removeTotpByForm(visit: PersonalVisit): Promise<Answer> {
    const { app, me } = visit;
    await whileSignedIn(app.db, me, (trx) => removeTotp(trx, me.userId));
    return removedFactor(visit, 'your authenticator app');
}

export function totpParts({ app }: Visit): TotpParts {
    return { db: app.db, secrets: app.secrets, now: app.clock.now() };
}

/** Shows the secret for an authenticator app, as text and as a QR code. */
export async function showTotp(visit: PersonalVisit, problems: Problems = {}): Promise<Answer & { view: string }> {
    const { app, me } = visit;
    const { hasTotp } = await factorsOf(app.db, me.userId);
    const shown = { view: 'factors/totp', title: 'Authenticator app' };
    if (hasTotp) return { ...shown, model: { hasTotp, problems } };
    const { generateURI } = await import('otplib');
    const secret = await whileSignedIn(app.db, me, (db) => pendingTotp({ ...totpParts(visit), db }, me.userId));
    const uri = generateURI({ issuer: `Routebook (${new URL(app.publicUrl()).hostname})`, label: me.email, secret });
    const { encode } = await import('uqr');
    const { data, size } = encode(uri, { border: 2 });
    return {
        ...shown,
        model: { hasTotp, problems, secret: secret.replaceAll(/(.{4})(?=.)/g, '$1 '), uri, size, squares: squaresOf(data) },
    };
}

/** The dark squares of the QR code as an SVG path. */
function squaresOf(rows: readonly (readonly boolean[])[]): string {
    return rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))).join('');
}
