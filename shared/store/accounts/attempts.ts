import type { Db } from '../../platform/db.ts';

/** The maximum number of attempts, and the period in seconds, which begins with the first attempt. */
interface Bound {
    most: number;
    seconds: number;
}

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

/**
 * The counters that all processes share, and their limits. A name ends with the counted subject: the address of a client, a mail address, a
 * user.
 */
export const ATTEMPTS = {
    'password by client': { most: 10, seconds: MINUTE },
    'password by user': { most: 10, seconds: MINUTE },
    'sign-in by known browser': { most: 10, seconds: 15 * MINUTE },
    'sign-in by client': { most: 40, seconds: 15 * MINUTE },
    'sign-in by account and client': { most: 10, seconds: 15 * MINUTE },
    'sign-in by account': { most: 60, seconds: HOUR },
    'sign-up by client, hour': { most: 5, seconds: HOUR },
    'sign-up by client, day': { most: 20, seconds: DAY },
    'link by client': { most: 10, seconds: HOUR },
    'link by address': { most: 4, seconds: HOUR },
    'factor by account': { most: 5, seconds: 15 * MINUTE },
    'passkey by client': { most: 60, seconds: 15 * MINUTE },
    'code by session': { most: 5, seconds: 15 * MINUTE },
    'code mailed to user': { most: 4, seconds: HOUR },
    // Mails to an address that does not belong to the user, or not yet.
    'foreign mail by user': { most: 5, seconds: HOUR },
    'foreign mail by client': { most: 20, seconds: HOUR },
    'invitation by user': { most: 20, seconds: DAY },
    'invitation by address': { most: 3, seconds: DAY },
    'claim check by claim': { most: 1, seconds: MINUTE },
    'claim check by account': { most: 20, seconds: HOUR },
    'app registration by client': { most: 20, seconds: HOUR },
    'app document by user': { most: 20, seconds: HOUR },
    // Of what its forms change: it bounds the rows of audit logs.
    'change by user': { most: 1200, seconds: HOUR },
    'checkout by workspace': { most: 30, seconds: HOUR },
} as const satisfies Record<string, Bound>;

type AttemptKind = keyof typeof ATTEMPTS;
export type Attempt = readonly [kind: AttemptKind, of: string];

/**
 * Counts one attempt for each of these counters, or for none of them if one is exhausted. Returns the seconds until a retry is possible, or
 * 0 if the attempt was counted.
 */
export async function takeAttempts(db: Db, attempts: readonly Attempt[]): Promise<number> {
    const { rows } = await db.raw<{ rows: [{ wait: number }] }>('select attempts_take(?, ?, ?) as wait', [
        attempts.map(nameOf),
        attempts.map(([kind]) => ATTEMPTS[kind].most),
        attempts.map(([kind]) => ATTEMPTS[kind].seconds),
    ]);
    return Math.ceil(rows[0].wait);
}

/** Resets the counters after the user entered the correct password. */
export async function forgetAttempts(db: Db, attempts: readonly Attempt[]): Promise<void> {
    await db('attempts').whereIn('name', attempts.map(nameOf)).delete();
}

function nameOf([kind, of]: Attempt): string {
    return `${kind}: ${of}`;
}
