import { readEmail } from '../../../shared/domain/email.ts';
import { isWebToken } from '../../../shared/domain/web-token.ts';
import { takeAttempts } from '../../../shared/store/attempts.ts';
import { changeAddress, credentialsOf, verifyAddress } from '../../../shared/store/credentials.ts';
import { findLink, type MailLink, makeLink, useLink } from '../../../shared/store/mail-links.ts';
import { queueMail } from '../../../shared/store/mails.ts';
import type { Notice } from '../notices.ts';
import type { Answer, PersonalVisit, Shown, Visit } from '../page.ts';
import { waitText } from './fields.ts';
import { changedLetter, verifyLetter } from './letters.ts';

/**
 * Opens a link that confirms an address. It counts at once for its own user in this browser, and where there is no mail server;
 * everybody else has to press a button, since mail scanners open links too.
 */
export async function showVerify(visit: Visit): Promise<Answer> {
    const token = visit.query('token');
    const link = await confirming(visit, token);
    if (token === undefined || link === undefined) return gone(visit);
    const isOwn = visit.me?.userId === link.userId || visit.app.config.mail.smtpUrl === undefined;
    if (isOwn) return confirm(visit, token);
    return {
        view: 'account/verify',
        title: 'Confirm your address',
        model: { token, address: link.address, isChange: link.purpose === 'change' },
    };
}

/** The button's side. */
export async function verifyByForm(visit: Visit): Promise<Answer> {
    const token = visit.fields.get('token');
    const link = await confirming(visit, token);
    if (token === undefined || link === undefined) return gone(visit);
    return confirm(visit, token);
}

/** Mails the link once more. */
export async function sendVerifyLink({ app, me, hurryMail }: PersonalVisit): Promise<Answer> {
    if (me.isVerified) return { to: '/dashboard', notice: 'verified' };
    const wait = await takeAttempts(app.db, [['link by address', me.emailNormalised]]);
    if (wait > 0) {
        const title = 'Too often';
        const message = `We sent this link several times already; try again in ${waitText(wait)}.`;
        return {
            view: 'account/words',
            title,
            status: 429,
            retryAfter: wait,
            model: { title, message, link: '/dashboard', label: 'Back' },
        };
    }
    await app.db.transaction(async (trx) => {
        const token = await makeLink(trx, { purpose: 'verify', userId: me.userId, address: me.email });
        await queueMail(trx, verifyLetter(me.email, app.publicUrl(), token));
    });
    hurryMail();
    return { to: '/dashboard', notice: 'link-sent' };
}

/** What says that a link no longer works; a second look at the page of a used one by its own user is no fault. */
export function gone({ me }: Visit): Answer {
    if (me?.isVerified === true) return { to: '/dashboard' };
    const title = 'This link no longer works';
    const message = 'It was used already, or it is too old. Sign in to get another one.';
    return { view: 'account/words', title, status: 410, model: { title, message, link: '/login', label: 'Sign in' } } satisfies Shown;
}

async function confirming({ app }: Visit, token: string | undefined): Promise<MailLink | undefined> {
    const link = isWebToken(token) ? await findLink(app.db, token) : undefined;
    return link?.purpose === 'reset' ? undefined : link;
}

async function confirm(visit: Visit, token: string): Promise<Answer> {
    const { app, me } = visit;
    const done = await app.db.transaction(async (trx): Promise<Notice | undefined> => {
        const link = await useLink(trx, token);
        if (link === undefined) return undefined;
        if (link.purpose === 'verify') return (await verifyAddress(trx, link.userId, link.address)) ? 'verified' : undefined;
        const email = readEmail(link.address);
        const before = await credentialsOf(trx, link.userId);
        if (!email.ok || before === undefined || !(await changeAddress(trx, link.userId, email))) return undefined;
        await queueMail(trx, changedLetter(before.email, email.address));
        return 'address-changed';
    });
    if (done === undefined) return gone(visit);
    visit.hurryMail();
    return { to: me === undefined ? '/login' : '/dashboard', notice: done };
}
