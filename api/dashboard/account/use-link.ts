import { readEmail } from '../../../shared/domain/accounts/email.ts';
import { type MailLink, useLink } from '../../../shared/store/accounts/mail-links.ts';
import { queueMail } from '../../../shared/store/accounts/mails.ts';
import { lockUser } from '../../../shared/store/accounts/user-sessions.ts';
import { changeAddress, credentialsOf, resetPassword, verifyAddress } from '../../../shared/store/accounts/users.ts';
import { type Problems, readFields, secret } from '../fields.ts';
import type { Notice } from '../notices.ts';
import type { Answer, Visit } from '../page.ts';
import { hashPassword, newPasswordProblem, passwordFault } from './check-password.ts';
import { changedMail } from './mails.ts';
import { nextOf } from './next.ts';
import { afterFirstFactor } from './second-step.ts';

export interface OpenedLink extends MailLink {
    token: string;
    /** The account's current address. */
    account: string;
}

/** An answer, problems with the form, or undefined if the link no longer works. */
type Done = Answer | { problems: Problems } | undefined;

export async function confirmAddress(visit: Visit, link: OpenedLink): Promise<Answer | undefined> {
    const done = await consume(visit, link);
    return done && { to: nextOf(visit), notice: done };
}

/** Confirms the address in the browser that signed up with it, and signs in there. The browser replaces the password as a proof. */
export async function confirmWhereSignedUp(visit: Visit, link: OpenedLink): Promise<Answer | undefined> {
    const before = await credentialsOf(visit.app.db, link.userId);
    const done = before && (await consume(visit, link));
    return (
        done &&
        afterFirstFactor(visit, { userId: link.userId, revision: before.revision, next: nextOf(visit), notice: 'welcome' }, 'mailed link')
    );
}

/** Confirms the address in another browser, by the password of the account, and signs in there. */
export async function confirmWithPassword(visit: Visit, link: OpenedLink): Promise<Done> {
    const read = readFields(visit.fields, { password: secret });
    if (!read.ok) return { problems: read.problems };
    const email = readEmail(link.account);
    if (!email.ok) return undefined;
    const before = await credentialsOf(visit.app.db, link.userId);
    if (before === undefined) return undefined;
    const problems = await passwordFault(visit, { userId: link.userId, emailNormalised: email.normalised }, read.values.password);
    if (problems !== undefined) return { problems };
    const done = await consume(visit, link);
    return (
        done &&
        afterFirstFactor(visit, { userId: link.userId, revision: before.revision, next: nextOf(visit), notice: done }, 'mailed link')
    );
}

/**
 * Gives an unconfirmed account to the person who reads its mailbox. Sets a new password and ends all earlier sessions and keys, since
 * somebody else may have signed up with the address.
 */
export async function takeAddress(visit: Visit, link: OpenedLink): Promise<Done> {
    const { app } = visit;
    const read = readFields(visit.fields, { new_password: secret });
    if (!read.ok) return { problems: read.problems };
    const weak = newPasswordProblem(read.values.new_password, link.address);
    if (weak !== undefined) return { problems: { new_password: weak } };
    const passwordHash = await hashPassword(visit, { emailNormalised: link.address, isProven: true }, read.values.new_password);
    const revision = await app.db.transaction(async (trx) => {
        await lockUser(trx, link.userId);
        if ((await useLink(trx, app.secrets, link.token)) === undefined) return undefined;
        return resetPassword(trx, link.userId, link.address, { passwordHash, revokeKeys: true });
    });
    if (revision === undefined) return undefined;
    return afterFirstFactor(visit, { userId: link.userId, revision, next: nextOf(visit), notice: 'verified' }, 'mailed link');
}

async function consume(visit: Visit, { token, userId }: OpenedLink): Promise<Notice | undefined> {
    const done = await visit.app.db.transaction(async (trx): Promise<Notice | undefined> => {
        // Lock the user before the link's row, in the same order as all other changes of a user.
        await lockUser(trx, userId);
        const link = await useLink(trx, visit.app.secrets, token);
        if (link === undefined) return undefined;
        if (link.purpose === 'verify') return (await verifyAddress(trx, link.userId, link.address)) ? 'verified' : undefined;
        const email = readEmail(link.address);
        const before = await credentialsOf(trx, link.userId);
        if (!email.ok || before === undefined || !(await changeAddress(trx, link.userId, email))) return undefined;
        await queueMail(trx, visit.app.secrets, changedMail(before.email, email.address));
        return 'address-changed';
    });
    if (done !== undefined) visit.hurryMail();
    return done;
}
