import type { Db } from '../../platform/db.ts';

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

/** Limits that all processes share. A window begins with its first attempt. Names end with what is counted: a client's address, a user. */
export const ATTEMPTS = {
    'password by client': { max: 10, seconds: MINUTE },
    'password by user': { max: 10, seconds: MINUTE },
    'sign-in by known browser': { max: 10, seconds: 15 * MINUTE },
    // Counts only wrong passwords.
    'sign-in by client': { max: 40, seconds: 15 * MINUTE },
    'sign-in by account and client': { max: 10, seconds: 15 * MINUTE },
    'sign-in by account': { max: 60, seconds: HOUR },
    // 'foreign mail by client' limits them per hour too, because a sign-up sends a mail.
    'sign-up by client': { max: 100, seconds: DAY },
    'link by client': { max: 10, seconds: HOUR },
    'link by address': { max: 4, seconds: HOUR },
    // Mails about a sign-up or a change of address by somebody else. Counted apart, so that a stranger cannot use up the owner's links.
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
    // Limit the used refresh tokens. A grant keeps all of them, because the second use of one ends the grant.
    'renewal by grant': { max: 60, seconds: 10 * MINUTE },
    'renewal by grant, day': { max: 1000, seconds: DAY },
    // Changes in the dashboard. Limits the rows of audit logs.
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

/** Subtracts an attempt that the limit is not meant for, such as one with the correct password. */
export async function returnAttempt(db: Db, attempt: Attempt): Promise<void> {
    await db('attempts').where('name', nameOf(attempt)).where('used', '>', 0).decrement('used', 1);
}

function nameOf([kind, of]: Attempt): string {
    return `${kind}: ${of}`;
}
