import type { Db } from '../../../shared/platform/db.ts';
import { forgetAttempts, takeAttempts } from '../../../shared/store/accounts/attempts.ts';
import { demandFactor, dropRecoveryCodes, factorsOf, hasFactor, makeRecoveryCodes } from '../../../shared/store/accounts/factors.ts';
import { type Mail, queueMail } from '../../../shared/store/accounts/mails.ts';
import { addPasskey, listPasskeys, MAX_PASSKEYS, removePasskey } from '../../../shared/store/accounts/passkeys.ts';
import { confirmTotp, pendingTotp, removeTotp, type TotpParts } from '../../../shared/store/accounts/totp.ts';
import { endSessions, whileSignedIn } from '../../../shared/store/accounts/user-sessions.ts';
import { isFactorMissing, isLocked } from '../authorize.ts';
import { keepTyped, line, type Problems, readFields, tooManyAttempts } from '../fields.ts';
import { type Answer, type PersonalVisit, pageNotFound, personalPage, type Visit, type WorkspaceVisit, workspacePage } from '../page.ts';
import { changeRecorded } from '../record-act.ts';
import { showWorkspace } from '../workspace/pages.ts';
import { creationOptions, readNewPasskey, takesPasskeys } from './webauthn.ts';

/** Options of pages that users may open before they have set up a required factor. */
const setUp = { worksWithoutFactor: true } as const;
const setUpAgain = { worksWithoutFactor: true, needsRecentSignIn: true } as const;

const BASE = '/dashboard/settings/factors';

/** Pages of second factors: authenticator app, passkeys, recovery codes, and whether a workspace requires a second factor. */
export const factorPages = [
    personalPage({ method: 'GET', path: BASE, ...setUp, respond: showFactors }),
    personalPage({ method: 'GET', path: `${BASE}/totp`, ...setUpAgain, respond: showTotp }),
    personalPage({ method: 'POST', path: `${BASE}/totp`, ...setUpAgain, respond: addTotp }),
    personalPage({ method: 'POST', path: `${BASE}/totp/remove`, ...setUpAgain, respond: removeTotpByForm }),
    personalPage({ method: 'GET', path: `${BASE}/passkey`, ...setUpAgain, respond: showNewPasskey }),
    personalPage({ method: 'POST', path: `${BASE}/passkey`, ...setUpAgain, respond: addPasskeyByForm }),
    personalPage({ method: 'POST', path: `${BASE}/passkeys/{passkey_id}/remove`, ...setUpAgain, respond: removePasskeyByForm }),
    personalPage({ method: 'POST', path: `${BASE}/codes`, ...setUpAgain, respond: showNewCodes }),
    workspacePage({
        method: 'POST',
        path: '/dashboard/workspace/factor',
        audience: ['owner'],
        needsRecentSignIn: true,
        respond: demandFactorByForm,
    }),
];

/** Shows the second factors of a person, and those still to set up. */
async function showFactors(visit: PersonalVisit): Promise<Answer> {
    const { app, me } = visit;
    const passkeys = await listPasskeys(app.db, me.userId);
    return {
        view: 'factors/factors',
        title: 'Second factor',
        model: {
            factors: await factorsOf(app.db, me.userId),
            passkeys,
            mayAddPasskey: takesPasskeys(app) && passkeys.length < MAX_PASSKEYS,
            takesPasskeys: takesPasskeys(app),
            isMissing: isFactorMissing(visit),
            demandedBy: demandedBy(visit),
        },
    };
}

/** Names who requires the factor that this person lacks: the service or the person's workspaces. */
function demandedBy({ me, isOperator }: PersonalVisit): string | undefined {
    if (isOperator) return me.hasFactor ? undefined : 'Operators of this service';
    const names = me.workspaces.filter((membership) => isLocked(me, membership)).map(({ name }) => name);
    return names.length === 0 ? undefined : `Members of ${names.join(', ')}`;
}

/** Sets whether all members of the workspace need a second factor. */
async function demandFactorByForm(visit: WorkspaceVisit): Promise<Answer> {
    const { me, workspace, fields } = visit;
    const isDemanded = Boolean(fields.get('demands_factor'));
    // Otherwise a user without a factor who requires one would be locked out of this page.
    if (isDemanded && !me.hasFactor) return showWorkspace(visit, { factor: { '': 'Set up a second factor of your own first.' } });
    const { workspaceId } = workspace;
    const act = { action: 'workspace.factor_changed', target: workspaceId, details: { demanded: isDemanded } } as const;
    await changeRecorded(visit, act, (trx) => demandFactor(trx, workspaceId, isDemanded));
    return { to: '/dashboard/workspace', notice: isDemanded ? 'factor-demanded' : 'factor-not-demanded' };
}

/** Adds the authenticator app after checking its first code. */
async function addTotp(visit: PersonalVisit): Promise<Answer> {
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

async function removeTotpByForm(visit: PersonalVisit): Promise<Answer> {
    const { app, me } = visit;
    await whileSignedIn(app.db, me, (trx) => removeTotp(trx, me.userId));
    return removedFactor(visit, 'your authenticator app');
}

export function totpParts({ app }: Visit): TotpParts {
    return { db: app.db, secrets: app.secrets, now: app.clock.now() };
}

/** Shows the secret for an authenticator app, as text and as a QR code. */
async function showTotp(visit: PersonalVisit, problems: Problems = {}): Promise<Answer & { view: string }> {
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

async function addPasskeyByForm(visit: PersonalVisit): Promise<Answer> {
    const { app, me, fields } = visit;
    const read = readFields(fields, { name: line({ maxLength: 60 }) });
    if (!read.ok) return showNewPasskey(visit, read.problems);
    const made = takesPasskeys(app) ? await readNewPasskey(app, me.userId, fields.get('credential') ?? '') : undefined;
    const { name } = read.values;
    // Runs alone, since passkeys that are added concurrently could exceed the limit together.
    const isKept =
        made !== undefined &&
        (await whileSignedIn(app.db, me, (trx) => addPasskey(trx, { ...made, userId: me.userId, name }), { alone: true }));
    if (!isKept) return showNewPasskey(visit, { '': 'Your browser could not create a passkey. Try again.' });
    return addedFactor(visit, `the passkey ${name}`);
}

async function removePasskeyByForm(visit: PersonalVisit): Promise<Answer> {
    const { app, me, params } = visit;
    const name = await whileSignedIn(app.db, me, (trx) => removePasskey(trx, me.userId, params['passkey_id'] ?? ''));
    if (name === undefined) throw pageNotFound();
    return removedFactor(visit, `the passkey ${name}`);
}

async function showNewPasskey(visit: PersonalVisit, problems: Problems = {}): Promise<Answer> {
    const { app, me, fields } = visit;
    const passkey = takesPasskeys(app) ? JSON.stringify(await creationOptions(app, me)) : undefined;
    return { view: 'factors/passkey', title: 'New passkey', model: { problems, typed: keepTyped(fields), passkey } };
}

/**
 * Runs after a factor was added. After the first factor it ends all other sessions, since a password alone was enough for them. If there
 * are no recovery codes yet, creates them and shows them once.
 */
async function addedFactor(visit: PersonalVisit, what: string): Promise<Answer> {
    const { app, me } = visit;
    await notify(visit, `${what} was added to`);
    const begin = async (trx: Db) => {
        const { hasTotp, passkeys, recoveryCodes } = await factorsOf(trx, me.userId);
        if (passkeys + (hasTotp ? 1 : 0) === 1) await endSessions(trx, me.userId, me.sessionId);
        return recoveryCodes > 0 ? undefined : makeRecoveryCodes(trx, me.userId);
    };
    const codes = await whileSignedIn(app.db, me, begin, { alone: true });
    return codes === undefined ? { to: '/dashboard/settings/factors', notice: 'factor-added' } : showCodes(codes);
}

/** Runs after a factor was removed. Deletes the recovery codes if no factor is left. */
async function removedFactor(visit: PersonalVisit, what: string): Promise<Answer> {
    const { app, me } = visit;
    await notify(visit, `${what} was removed from`);
    if (!hasFactor(await factorsOf(app.db, me.userId))) {
        await dropRecoveryCodes(app.db, me.userId);
    }
    return { to: '/dashboard/settings/factors', notice: 'factor-removed' };
}

/** Creates ten new recovery codes for a user with a second factor. Only this answer shows them. */
async function showNewCodes({ app, me }: PersonalVisit): Promise<Answer> {
    if (!hasFactor(await factorsOf(app.db, me.userId))) return { to: '/dashboard/settings/factors' };
    return showCodes(await whileSignedIn(app.db, me, (trx) => makeRecoveryCodes(trx, me.userId), { alone: true }));
}

function showCodes(codes: readonly string[]): Answer {
    return { view: 'factors/codes', title: 'Your recovery codes', model: { text: codes.join('\n') } };
}

async function notify({ app, me, hurryMail }: PersonalVisit, what: string): Promise<void> {
    // An unconfirmed address may belong to a stranger.
    if (!me.isVerified) return;
    await queueMail(app.db, app.secrets, factorMail(me.email, app.publicUrl(), what));
    hurryMail();
}

/** To a user whose second factors changed. @param what for example `the passkey laptop was added to` */
function factorMail(to: string, publicUrl: string, what: string): Mail {
    return {
        to,
        subject: 'Your second factor was changed',
        text: `${what.charAt(0).toUpperCase()}${what.slice(1)} your Routebook account.

If this was not you, change your password immediately and review your sessions and second factors:
${publicUrl}/dashboard/settings
`,
    };
}

/** To a user who signed in with a recovery code. */
export function recoveryMail(to: string, publicUrl: string, left: number): Mail {
    return {
        to,
        subject: 'A recovery code was used',
        text: `Someone, probably you, signed in to your Routebook account with a recovery code. You have ${left} left.

If this was not you, change your password immediately and generate new recovery codes:
${publicUrl}/dashboard/settings
`,
    };
}
