import type { Mail } from '../../../shared/store/accounts/mails.ts';

/** An invitation from a user to a friend. */
export function friendMail(to: string, by: string, url: string): Mail {
    return {
        to,
        subject: 'An invitation to Routebook',
        text: `${by} invites you to Routebook, a registry of the routes behind websites.

Sign up for free, no card needed:

${url}

This is the only email we send you about this.
`,
    };
}
