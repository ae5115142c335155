import type { Mail } from '../store/mails.ts';

/** What we mail about credits and payment: plain text, what happened, what follows, and where to look. */

const number = (value: number) => value.toLocaleString('en-US');
const credits = (value: number) => `${number(value)} ${value === 1 ? 'credit' : 'credits'}`;
const day = (date: Date) => date.toISOString().slice(0, 10);

export interface AllowanceUse {
    limit: number;
    left: number;
    resetsAt: Date;
}

/** @param isGone all of it, and not four fifths */
export function allowanceLetter(to: string, publicUrl: string, isGone: boolean, { limit, left, resetsAt }: AllowanceUse): Mail {
    const begins = isGone
        ? `This month's allowance of ${credits(limit)} is used up. Calls go on as long as there are bonus credits; after that they are refused and not billed.`
        : `Four fifths of this month's allowance of ${credits(limit)} are used; ${number(left)} ${left === 1 ? 'is' : 'are'} left.`;
    return {
        to,
        subject: isGone ? 'Your allowance is used up' : 'Four fifths of your allowance are used',
        text: `${begins}

The next allowance comes on ${day(resetsAt)}. With a larger plan it comes at once:

${publicUrl}/dashboard/billing

Nothing is ever charged beyond your plan. You get this mail once a month at the most.
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

/** To whom a key belongs whose last calls of an endpoint all failed. */
export function failingLetter(to: string, publicUrl: string, { keyName, site, endpoint, calls, code }: FailingCalls): Mail {
    return {
        to,
        subject: `The last ${calls} calls of ${endpoint} failed`,
        text: `The last ${calls} calls of ${endpoint} of ${site} with your key "${keyName}" all failed, most often with ${code}. None of them was billed.

What the code means: ${publicUrl}/docs/errors#${code}
Your calls: ${publicUrl}/dashboard

You are told again only after a call has succeeded meanwhile.
`,
    };
}

/** To whoever pays for a workspace, with the days that are left to mend it. */
export function paymentFailedLetter(to: string, publicUrl: string, workspace: string): Mail {
    return {
        to,
        subject: `The payment for ${workspace} did not go through`,
        text: `The payment for the new month of ${workspace} did not go through.

What is left of the old allowance can be used until three days after the billing date, and the plan stays for seven days; then the workspace is on Free. You can look at the card here:

${publicUrl}/dashboard/billing
`,
    };
}

const REASONS: Readonly<Record<string, string>> = {
    refund: 'since its payment was paid back',
    dispute: 'since its payment was disputed',
    unpaid: 'since nobody paid for the new month within seven days',
    canceled: 'as the subscription has ended',
};

/** To whoever pays for a workspace. @param why the status of its subscription, as Stripe tells it */
export function planEndedLetter(to: string, publicUrl: string, workspace: string, why: string): Mail {
    return {
        to,
        subject: `${workspace} is on Free now`,
        text: `${workspace} is on Free now, ${REASONS[why] ?? REASONS['canceled']}. Its members draw on their own free allowance again, and bonus credits went back to the owner. Nothing more is billed.

${publicUrl}/dashboard/billing
`,
    };
}
