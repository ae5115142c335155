import type { Mail } from '../../../shared/store/mails.ts';

/** A friend's invitation. */
export function friendLetter(to: string, by: string, url: string): Mail {
    return {
        to,
        subject: 'An invitation to Routebook',
        text: `${by} uses Routebook, a registry of the routes behind websites, and thinks that you might too.

Sign up here, without a card:

${url}

This is the only mail that we send you about it.
`,
    };
}
