import type { Mail } from '../store/accounts/mails.ts';

/** What we mail about credits and payment: plain text, what happened, what follows, and where to look. */

const number = (value: number) => value.toLocaleString('en-US');
const credits = (value: number) => `${number(value)} ${value === 1 ? 'credit' : 'credits'}`;
const day = (date: Date) => date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });

export interface AllowanceUse {
    limit: number;
    left: number;
    resetsAt: Date;
}

/**
 * @param isGone all credits are used, not only four fifths
 */
export function allowanceLetter(to: string, publicUrl: string, isGone: boolean, { limit, left, resetsAt }: AllowanceUse): Mail {
    const begins = isGone
        ? `You have used all ${credits(limit)} of this month's allowance. Calls now use your bonus credits. Without any, calls are refused and not billed.`
        : `You have used 80% of this month's allowance of ${credits(limit)}. ${credits(left)} ${left === 1 ? 'is' : 'are'} left.`;
    return {
        to,
        subject: isGone ? 'You have used all of your allowance' : 'You have used 80% of your allowance',
        text: `${begins}

Your allowance resets on ${day(resetsAt)}. To get more credits now, upgrade your plan:

${publicUrl}/dashboard/billing

There are no overage charges. We send this email at most once a month.
`,
    };
}

export interface FailingCalls {
    keyName: string;
    site: string;
    endpoint: string;
    calls: number;
    code: string;
}

/** For the owner of a key whose last calls of an endpoint all failed. */
export function failingLetter(to: string, publicUrl: string, { keyName, site, endpoint, calls, code }: FailingCalls): Mail {
    return {
        to,
        subject: `The last ${calls} calls of ${endpoint} failed`,
        text: `The last ${calls} calls of ${endpoint} on ${site} with your API key "${keyName}" failed, most often with ${code}. None was billed.

What the code means: ${publicUrl}/docs/errors#${code}
Your calls: ${publicUrl}/dashboard

We will not email you about this again until a call has succeeded.
`,
    };
}

/** For the members who pay for a workspace, with the days left to pay. */
export function paymentFailedLetter(to: string, publicUrl: string, workspace: string): Mail {
    return {
        to,
        subject: `Your payment for ${workspace} failed`,
        text: `We could not charge your card for the new billing period of ${workspace}.

You can use your remaining allowance for three days after the billing date, and you keep your plan for seven. After that, the workspace moves to Free. Update your card here:

${publicUrl}/dashboard/billing
`,
    };
}

const REASONS: Readonly<Record<string, string>> = {
    refund: 'because its payment was refunded',
    dispute: 'because its payment was disputed',
    unpaid: 'because it was not paid within seven days',
    canceled: 'because the subscription ended',
};

/** For the members who pay for a workspace. @param why the status of its subscription, as Stripe reports it */
export function planEndedLetter(to: string, publicUrl: string, workspace: string, why: string): Mail {
    return {
        to,
        subject: `${workspace} is now on Free`,
        text: `${workspace} is now on Free ${REASONS[why] ?? REASONS['canceled']}. Members use their own free allowance again, and bonus credits are back with the owner. You will not be billed again.

${publicUrl}/dashboard/billing
`,
    };
}
