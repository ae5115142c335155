import type { Db } from '../../../shared/platform/db.ts';
import { dropRecoveryCodes, factorsOf, hasFactor, makeRecoveryCodes } from '../../../shared/store/accounts/factors.ts';
import { queueMail } from '../../../shared/store/accounts/mails.ts';
import { endSessions, whileSignedIn } from '../../../shared/store/accounts/user-sessions.ts';
import type { Answer, PersonalVisit } from '../page.ts';
import { factorMail } from './mails.ts';

/**
 * Runs after a factor was added. After the first factor it ends all other sessions, since a password alone was enough for them. If there
 * are no recovery codes yet, creates them and shows them once.
 */
export async function addedFactor(visit: PersonalVisit, what: string): Promise<Answer> {
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
export async function removedFactor(visit: PersonalVisit, what: string): Promise<Answer> {
    const { app, me } = visit;
    await notify(visit, `${what} was removed from`);
    if (!hasFactor(await factorsOf(app.db, me.userId))) {
        await dropRecoveryCodes(app.db, me.userId);
    }
    return { to: '/dashboard/settings/factors', notice: 'factor-removed' };
}

/** Creates ten new recovery codes for a user with a second factor. Only this answer shows them. */
export async function showNewCodes({ app, me }: PersonalVisit): Promise<Answer> {
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
