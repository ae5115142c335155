import type { Db } from '../../platform/db.ts';

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

/** Limits that all processes share, for the seconds after a first attempt. Names end with their subject: a client's address, a user. */
export const ATTEMPTS = {
    'password by client': { max: 10, seconds: MINUTE },
    'password by user': { max: 10, seconds: MINUTE },
    'sign-in by known browser': { max: 10, seconds: 15 * MINUTE },
    // Only those with a wrong password.
    'sign-in by client': { max: 40, seconds: 15 * MINUTE },
    'sign-in by account and client': { max: 10, seconds: 15 * MINUTE },
    'sign-in by account': { max: 60, seconds: HOUR },
    // Each hour has the limit of foreign mails, too: a sign-up sends one.
    'sign-up by client': { max: 100, seconds: DAY },
    'link by client': { max: 10, seconds: HOUR },
    'link by address': { max: 4, seconds: HOUR },
    // Of what somebody else tried with the address. Counted apart: a stranger could otherwise use up the links of its owner.
    'notice by address': { max: 4, seconds: HOUR },
    'factor by account': { max: 5, seconds: 15 * MINUTE },
    'passkey by client': { max: 60, seconds: 15 * MINUTE },
    'code by session': { max: 5, seconds: 15 * MINUTE },
    'code mailed to user': { max: 4, seconds: HOUR },
    // Mails to an address that does not belong to the user, or not yet.
    'foreign mail by user': { max: 5, seconds: HOUR },
    'foreign mail by client': { max: 20, seconds: HOUR },
    'invitation by user': { max: 20, seconds: DAY },
    'invitation by address': { max: 3, seconds: DAY },
    'claim check by claim': { max: 1, seconds: MINUTE },
    'claim check by account': { max: 20, seconds: HOUR },
    'app registration by client': { max: 20, seconds: HOUR },
    'app document by user': { max: 20, seconds: HOUR },
    // They bound the used refresh tokens of a grant, which are kept as long as it lasts: the second use of any of them ends it.
    'renewal by grant': { max: 60, seconds: 10 * MINUTE },
    'renewal by grant, day': { max: 1000, seconds: DAY },
    // Of what its forms change: it bounds the rows of audit logs.
    'change by user': { max: 1200, seconds: HOUR },
    'checkout by workspace': { max: 30, seconds: HOUR },
} as const satisfies Record<string, { max: number; seconds: number }>;

type AttemptKind = keyof typeof ATTEMPTS;
export type Attempt = readonly [kind: AttemptKind, of: string];

/** Counts in all of these counters, or in none if one is exhausted. Returns the seconds until a retry; 0: counted. */
export async function takeAttempts(db: Db, attempts: readonly Attempt[]): Promise<number> {
    const { rows } = await db.raw<{ rows: [{ wait: number }] }>('select attempts_take(?, ?, ?) as wait', [
        attempts.map(nameOf),
        attempts.map(([kind]) => ATTEMPTS[kind].max),
        attempts.map(([kind]) => ATTEMPTS[kind].seconds),
    ]);
    return Math.ceil(rows[0].wait);
}

/** Resets the counters after the user entered the correct password. */
export async function forgetAttempts(db: Db, attempts: readonly Attempt[]): Promise<void> {
    await db('attempts').whereIn('name', attempts.map(nameOf)).delete();
}

/** Gives an attempt back, because it turned out to be none of those that the limit is for. */
export async function returnAttempt(db: Db, attempt: Attempt): Promise<void> {
    await db('attempts').where('name', nameOf(attempt)).where('used', '>', 0).decrement('used', 1);
}

function nameOf([kind, of]: Attempt): string {
    return `${kind}: ${of}`;
}
