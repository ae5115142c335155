import { LINK_TOKEN, type Mail } from '../../../shared/store/mails.ts';
import { formats } from '../formats.ts';

/** What we mail to people about their accounts: plain text, one link, and what to do if it was not them. */

/** To somebody who signed up. @param linkId the link works for a week */
export function verifyLetter(to: string, publicUrl: string, linkId: string): Mail {
    return {
        to,
        linkId,
        subject: 'Confirm your address',
        text: `Welcome to Routebook.

Open this link to confirm that this address is yours. It works for a week.

${publicUrl}/verify?token=${LINK_TOKEN}

If you did not sign up, somebody else used your address. Do nothing, and it stays unconfirmed; or open the link and set a
password of your own: then the account is yours, and every session and key made before ends.
`,
    };
}

/** To somebody who forgot the password. @param linkId the link works once, within an hour */
export function resetLetter(to: string, publicUrl: string, linkId: string): Mail {
    return {
        to,
        linkId,
        subject: 'Choose a new password',
        text: `Somebody, most likely you, asked for a new password for this address at Routebook.

Open this link to choose one. It works once, within an hour.

${publicUrl}/reset?token=${LINK_TOKEN}

If it was not you, do nothing: your password stays as it is.
`,
    };
}

/** To a new address, before it is used. @param linkId the link works for a day */
export function changeLetter(to: string, publicUrl: string, linkId: string): Mail {
    return {
        to,
        linkId,
        subject: 'Confirm your new address',
        text: `You asked to use this address for your account at Routebook.

Open this link to make it so, where you are signed in or with the password of that account. It works for a day; until
then the old address holds.

${publicUrl}/verify?token=${LINK_TOKEN}

If it was not you, do nothing.
`,
    };
}

/** To somebody whose address another account asked for. */
export function takenLetter(to: string): Mail {
    return {
        to,
        subject: 'Somebody asked to use your address',
        text: `Somebody asked to use this address for another account at Routebook. It is the address of your own account, so nothing was changed.

If it was you, sign in with it, or delete that account first. If it was not you, do nothing.
`,
    };
}

/** To the old address, once a new one is used: whoever reads only that learns of it. */
export function changedLetter(to: string, newAddress: string): Mail {
    return {
        to,
        subject: 'Your address was changed',
        text: `Your account at Routebook now has the address ${newAddress}, and this one is no longer used.

If it was not you, write to the operator of the service at once.
`,
    };
}

/** To everybody whose password was changed, by whatever way. */
export function passwordLetter(to: string): Mail {
    return {
        to,
        subject: 'Your password was changed',
        text: `The password of your account at Routebook was changed, and every other session ended.

If it was not you, ask for a new password on the sign-in page at once.
`,
    };
}

/** To somebody whose account a new browser signed in to. */
export function newBrowserLetter(to: string, { browser, address, at }: { browser: string; address: string; at: Date }): Mail {
    return {
        to,
        subject: 'A new browser signed in',
        text: `${browser} signed in to your account at Routebook, which it had not done before.

When: ${formats.moment(at)}
From: ${address}

If it was not you, change your password at once, and end that session in your settings.
`,
    };
}

/** To somebody without a password who has to confirm a step. @param code eight digits; it works once, for ten minutes */
export function codeLetter(to: string, code: string): Mail {
    return {
        to,
        subject: 'Your confirmation code',
        text: `Your code at Routebook is ${code}. It works once, within ten minutes, in the browser where you asked for it.

If you did not ask for it, somebody else is signed in to your account: end the other sessions in your settings.
`,
    };
}
