import { passwordProblem } from '../../../shared/domain/accounts/password-rules.ts';
import { isCommonPassword } from '../../../shared/platform/passwords/common-passwords.ts';
import { Refusal } from '../../../shared/refusals.ts';
import { type Attempt, forgetAttempts, returnAttempt, takeAttempts } from '../../../shared/store/accounts/attempts.ts';
import { isKnownBrowser } from '../../../shared/store/accounts/sign-ins.ts';
import { type Credentials, credentialsOf } from '../../../shared/store/accounts/users.ts';
import { KeyedQueue } from '../../admission/keyed-queue.ts';
import { perApp } from '../../admission/per-app.ts';
import { type Problems, waitText } from '../fields.ts';
import type { Visit } from '../page.ts';

/** How many passwords of one account, or of one client, may wait while another one is hashed. `WAITING_IN_ALL` limits the process. */
const WAITING_EACH = 4;
const WAITING_IN_ALL = 256;

const queueOf = perApp(() => new KeyedQueue({ waitingPerKey: WAITING_EACH, room: { places: WAITING_IN_ALL, taken: 0 } }));

/** The account that the password is for. `credentials` is undefined if no account has the address. */
interface Account {
    emailNormalised: string;
    credentials: Credentials | undefined;
}

/** `wait`: the password was not checked. The visitor may try again after this many seconds. */
type Verdict = 'right' | 'wrong' | { wait: number };

/**
 * Checks a password. Guesses are limited per account and per client, over all processes. A browser that signed in to this account before
 * has its own limits, so a stranger's guesses cannot lock the owner out.
 * @throws Refusal RATE_LIMITED, OVERLOADED if too many passwords wait
 */
export async function checkPassword(visit: Visit, { emailNormalised, credentials }: Account, password: string): Promise<Verdict> {
    const { app, client, passwords } = visit;
    const isKnown = await isKnownVisitor(visit, credentials?.userId);
    const guesses: Attempt[] = isKnown
        ? [['sign-in by known browser', emailNormalised]]
        : [
              ['sign-in by account and client', `${emailNormalised} ${client}`],
              ['sign-in by account', emailNormalised],
          ];
    const others: Attempt[] = isKnown
        ? [['password by user', emailNormalised]]
        : [
              ['password by client', client],
              ['sign-in by client', client],
          ];
    const keys = isKnown ? [`known ${emailNormalised}`] : [`account ${emailNormalised}`, `client ${client}`];
    return inTurn(visit, keys, async () => {
        const wait = await takeAttempts(app.db, [...guesses, ...others]);
        if (wait > 0) return { wait };
        const asker = { client, account: emailNormalised, isKnown };
        if (!(await passwords.matches(password, credentials?.passwordHash, asker))) return 'wrong';
        await forgetAttempts(app.db, guesses);
        // The people of an office sign in from one address.
        if (!isKnown) await returnAttempt(app.db, ['sign-in by client', client]);
        return 'right';
    });
}

/** Checks the password of an existing user. Returns the form's problems, or undefined if the password is right. */
export async function passwordFault(
    visit: Visit,
    { userId, emailNormalised }: { userId: string; emailNormalised: string },
    password: string,
): Promise<Problems | undefined> {
    const credentials = await credentialsOf(visit.app.db, userId);
    const verdict = await checkPassword(visit, { emailNormalised, credentials }, password);
    if (verdict === 'right') return undefined;
    if (verdict === 'wrong') return { password: 'Wrong password.' };
    return { password: `Too many attempts. Try again in ${waitText(verdict.wait)}.` };
}

/**
 * Hashes a new password. It counts in the same limits and waits in the same queue as a guess.
 * @param isProven whether a session or a mailed link proves that the visitor owns the account
 * @throws Refusal RATE_LIMITED, OVERLOADED
 */
export async function hashPassword(
    visit: Visit,
    { emailNormalised, isProven }: { emailNormalised: string; isProven: boolean },
    password: string,
): Promise<string> {
    const { app, client, passwords } = visit;
    return inTurn(visit, [isProven ? `known ${emailNormalised}` : `client ${client}`], async () => {
        const wait = await takeAttempts(app.db, [isProven ? ['password by user', emailNormalised] : ['password by client', client]]);
        if (wait > 0) throw tooMany(wait);
        return passwords.hash(password, { client, account: emailNormalised, isKnown: isProven });
    });
}

/** Whether this visitor is signed in as the user, or signed in as the user in this browser before. */
async function isKnownVisitor({ app, me, browserToken }: Visit, userId: string | undefined): Promise<boolean> {
    if (me !== undefined && me.userId === userId) return true;
    // The query also runs for an address without an account, so that the response time does not reveal which addresses have one.
    return browserToken !== undefined && (await isKnownBrowser(app.db, userId ?? '', browserToken));
}

/** Handles one password per account and per client at a time. Known browsers of an account have a queue of their own. */
function inTurn<Result>({ app, gone }: Visit, keys: readonly string[], work: () => Promise<Result>): Promise<Result> {
    return queueOf(app).run({ keys, gone, full: (where) => (where === 'key' ? tooMany(1) : overloaded()) }, work);
}

function tooMany(wait: number): Refusal {
    return new Refusal('RATE_LIMITED', `Too many attempts; try again in ${waitText(wait)}.`, { retryAfter: wait });
}

function overloaded(): Refusal {
    return new Refusal('OVERLOADED', 'Too many people are signing in right now. Try again in a moment.', { retryAfter: 2 });
}

/** Says in a sentence why a new password is refused. Undefined if it is accepted. */
export function newPasswordProblem(password: string, address: string): string | undefined {
    return passwordProblem(password, address, isCommonPassword);
}
