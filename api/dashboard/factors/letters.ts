import type { Mail } from '../../../shared/store/mails.ts';

/** To somebody whose second factors changed. @param what `the passkey laptop was added to` */
export function factorLetter(to: string, what: string): Mail {
    return {
        to,
        subject: 'Your second factor was changed',
        text: `${what.charAt(0).toUpperCase()}${what.slice(1)} your account at Routebook.

If it was not you, change your password at once, and look at your sessions and second factors in your settings.
`,
    };
}

/** To somebody who signed in with a recovery code. */
export function recoveryLetter(to: string, left: number): Mail {
    return {
        to,
        subject: 'A recovery code was used',
        text: `Somebody, most likely you, signed in to your account at Routebook with a recovery code. ${left} of them are left.

If it was not you, change your password at once, and make new recovery codes in your settings.
`,
    };
}
