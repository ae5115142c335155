import type { Mail } from '../../../shared/store/accounts/mails.ts';

/** To a user whose second factors changed. @param what for example `the passkey laptop was added to` */
export function factorMail(to: string, publicUrl: string, what: string): Mail {
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
