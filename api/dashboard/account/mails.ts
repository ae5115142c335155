import type { App } from '../../../shared/app.ts';
import { LINK_TOKEN, type Mail } from '../../../shared/store/accounts/mails.ts';
import { formats } from '../formats.ts';
import { ACCESS_PATH } from './access.ts';

/** Mails about accounts: plain text, one link, and advice for readers who did not ask for the mail. */

/** To a new user. The link works for a week. @param link its id, and `next`: the path to continue to, or empty */
export function verifyMail(to: string, publicUrl: string, { linkId, next }: { linkId: string; next: string }): Mail {
    const query = next === '' ? '' : `&next=${encodeURIComponent(next)}`;
    return {
        to,
        linkId,
        subject: 'Confirm your email address',
        text: `Welcome to Routebook.

Open this link to confirm your email address. It expires in a week.

${publicUrl}/verify?token=${LINK_TOKEN}${query}

If you did not sign up, someone else used your address. You can ignore this email. Or open the link and set a password:
the account becomes yours, and all existing sessions and API keys are revoked.
`,
    };
}

/** To the owner of an account, after somebody tried to sign up with its address. */
export function knownMail(to: string, publicUrl: string): Mail {
    return {
        to,
        subject: 'You already have an account',
        text: `Someone, probably you, signed up for Routebook with this address. You already have an account, so nothing changed.

Sign in: ${publicUrl}/login
Forgot your password? ${publicUrl}/forgot

If this was not you, ignore this email. The other person does not learn that you have an account.
`,
    };
}

/** To a user who forgot the password. @param linkId the link works once, within an hour */
export function resetMail(to: string, publicUrl: string, linkId: string): Mail {
    return {
        to,
        linkId,
        subject: 'Reset your password',
        text: `Someone, probably you, asked to reset your Routebook password.

Open this link to choose a new one. It works once and expires in an hour.

${publicUrl}/reset?token=${LINK_TOKEN}

If this was not you, ignore this email. Your password does not change.
`,
    };
}

/** To a new address, before the account uses it. @param linkId the link works for a day */
export function changeMail(to: string, publicUrl: string, linkId: string): Mail {
    return {
        to,
        linkId,
        subject: 'Confirm your new email address',
        text: `You asked to use this address for your Routebook account.

Open this link to confirm it. If you are not signed in, you need your password. The link expires in a day; until
then you keep your old address.

${publicUrl}/verify?token=${LINK_TOKEN}

If this was not you, ignore this email. Nothing changes.
`,
    };
}

/** To a user, after another account tried to use their address. */
export function takenMail(to: string): Mail {
    return {
        to,
        subject: 'Someone tried to use your email address',
        text: `Someone asked to use this address for another Routebook account. It already belongs to your account, so nothing changed.

If this was you, sign in with this address, or delete this account first. If not, ignore this email.
`,
    };
}

/** To the old address, after the account changed to a new one, so that the owner learns of a change by somebody else. */
export function changedMail(to: string, newAddress: string): Mail {
    return {
        to,
        subject: 'Your email address was changed',
        text: `The email address of your Routebook account is now ${newAddress}. This one is no longer used.

If this was not you, contact the operator of the service immediately.
`,
    };
}

/** To a user, after their password was changed in any way. @param left what still works, see `accessInWords` */
export function passwordMail(to: string, publicUrl: string, left: string): Mail {
    const rest = left === '' ? '' : `\nStill active: ${left}.\nRemove what is not yours: ${publicUrl}${ACCESS_PATH}\n`;
    return {
        to,
        subject: 'Your password was changed',
        text: `The password of your Routebook account was changed, and all other sessions were signed out.
${rest}
If this was not you, reset your password immediately: ${publicUrl}/forgot
`,
    };
}

export function newBrowserMail(
    to: string,
    publicUrl: string,
    { browser, address, at }: { browser: string; address: string; at: Date },
): Mail {
    return {
        to,
        subject: 'New sign-in to your account',
        text: `Someone signed in to your Routebook account from a new browser: ${browser}.

When: ${formats.moment(at)}
From: ${address}

If this was not you, change your password immediately and sign that session out: ${publicUrl}/dashboard/settings
`,
    };
}

/** To a user without a password who must confirm a step. @param code eight digits; works once, within ten minutes */
export function codeMail(to: string, publicUrl: string, code: string): Mail {
    return {
        to,
        subject: 'Your confirmation code',
        text: `Your Routebook code is ${code}. It works once, in the browser where you asked for it, and expires in 10 minutes.

If you did not ask for it, someone else is signed in to your account. Sign out the other sessions: ${publicUrl}/dashboard/settings
`,
    };
}

/**
 * Whether a new account must confirm its address first, by a mailed link. Without a mail server the links are only in the log, which users
 * cannot read. Then an account works before its address is confirmed.
 */
export function mailsConfirm({ config }: App): boolean {
    return config.mail.smtpUrl !== undefined;
}
