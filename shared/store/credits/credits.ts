import type { Db } from '../../platform/db.ts';
import { type Balance, createBalances, forwardBonus } from './accounts.ts';
import type { AnswerToKeep } from './answered.ts';
import { type BatcherOptions, openBatchers } from './batchers.ts';
import type { HoldOrder, HoldVerdict } from './holds.ts';
import type { HoldState } from './settlements.ts';

export type { AccountPlan, Balance, Overrides, PaidPeriod } from './accounts.ts';
export { changePlan, openAccount, payerOf, readBalance, renewWorkspace, setLimits } from './accounts.ts';
export {
    awaitCalls,
    BONUSES,
    earnContribution,
    earnOrOweContribution,
    grantBonus,
    payOwedContribution,
    reclaimContribution,
} from './bonuses.ts';
export type { HoldOrder, HoldVerdict, ReachedCap } from './holds.ts';
export type { HoldState } from './settlements.ts';
export type { AnswerToKeep };

export type ChargeVerdict =
    | {
          ok: true;
          charged: number;
          /** What the account can spend now, the bonus included. */
          available: number;
          /** 50 with the user's first charged fetch, otherwise 0. */
          firstFetchBonus: number;
          /** The answer as it is kept, where one was given to keep. */
          kept?: string;
      }
    | { ok: false; state: HoldState | 'unknown'; marked: boolean; available: number };

export interface ReleaseVerdict {
    /** `held` or `sent`: this call released it. Otherwise somebody was first, or there is no such hold. */
    before: HoldState | 'unknown';
    /** Whether a worker marked it as sent, also where somebody else was first: a failed write is then OUTCOME_UNKNOWN. */
    marked: boolean;
    available: number;
}

export interface HoldView {
    state: HoldState;
    marked: boolean;
    /** Credits held, or that were. */
    amount: number;
    charged: number;
}

export interface Swept {
    /** Holds released because nobody settled them in time. */
    released: number;
    /** Accounts whose period ended. */
    turned: number;
    /** Bonus credits that followed their owner to another account. */
    forwarded: number;
}

/**
 * The movements of money (docs/api.md, "Credits"). Whatever arrives in one tick is one statement and one commit. Every method
 * rejects with the database's error where the outcome could not be learned in time, or where nothing was done.
 */
export interface Credits {
    /** Holds as many units as are wanted and the balance allows; refused where it is below one unit. */
    hold(order: HoldOrder): Promise<HoldVerdict>;
    /**
     * Charges the exact cost, at most the hold (more is cut to it), and gives back the rest. A hold that has ended stays as it is.
     * With an `answer`, charge and answer are kept together or not at all.
     */
    charge(charge: { operation: string; amount: number; answer?: AnswerToKeep | undefined }): Promise<ChargeVerdict>;
    /** Gives the whole hold back. */
    release(release: { operation: string }): Promise<ReleaseVerdict>;
    /** A worker's `held → sent`; it sends only if this is true. */
    markSent(operation: string): Promise<boolean>;
    /** How a hold stands; undefined where there is none. */
    stateOf(operation: string): Promise<HoldView | undefined>;
    balance(accountId: string): Promise<Balance | undefined>;
    /** About how many milliseconds a charge takes at the moment: the batch that is under way, and its own. */
    settlingMs(): number;
    /** Releases forgotten holds and turns ended periods, at most `limit` of each. Safe to run anywhere, at once. */
    sweep(limit?: number): Promise<Swept>;
    /** Takes nothing more and waits for what was taken. */
    close(): Promise<void>;
}

/** Opens the credits of `db`'s accounts; close them before the pool. */
export function openCredits(db: Db, options: BatcherOptions = {}): Credits {
    const batchers = openBatchers(db, options);
    return {
        async hold(order) {
            mustBePositive('unit', order.unit);
            mustBePositive('maxUnits', order.maxUnits);
            return batchers.hold(order);
        },
        async charge({ operation, amount, answer }) {
            if (!Number.isSafeInteger(amount) || amount < 0) throw new RangeError('a charge is a whole number of credits');
            if (answer !== undefined) {
                const settled = await batchers.settleAnswered({ operation, charge: amount, answer });
                const { won, state, marked, charged, available, firstFetchBonus, remaining } = settled;
                if (!won) return { ok: false, state, marked, available };
                const kept = `${answer.head}${remaining ?? available}${answer.tail}`;
                return { ok: true, charged, available, firstFetchBonus, kept };
            }
            const { won, state, marked, charged, available, firstFetchBonus } = await batchers.settle({ operation, charge: amount });
            return won ? { ok: true, charged, available, firstFetchBonus } : { ok: false, state, marked, available };
        },
        async release({ operation }) {
            const { won, state, marked, available } = await batchers.settle({ operation, charge: null });
            return { before: won ? (marked ? 'sent' : 'held') : state, marked, available };
        },
        markSent: (operation) => batchers.mark(operation),
        stateOf: (operation) => stateOf(db, operation),
        balance: createBalances(db),
        settlingMs: () => batchers.settlingMs(),
        sweep: (limit = 500) => sweep(db, limit),
        close: () => batchers.close(),
    };
}

async function stateOf(db: Db, operation: string): Promise<HoldView | undefined> {
    const { rows } = await db.raw<{ rows: HoldView[] }>(
        'select state, sent_at is not null as marked, amount, coalesce(charged, 0) as charged from holds where operation = ?',
        [operation],
    );
    return rows[0];
}

async function sweep(db: Db, limit: number): Promise<Swept> {
    const released = await db.raw<{ rows: { count: number }[] }>('select credits_sweep(?) as count', [limit]);
    const turned = await db.raw<{ rows: { count: number }[] }>('select credits_turn_due(?) as count', [limit]);
    return { released: released.rows[0]?.count ?? 0, turned: turned.rows[0]?.count ?? 0, forwarded: await forwardBonus(db) };
}

function mustBePositive(name: string, value: number): void {
    if (!Number.isSafeInteger(value) || value < 1) throw new RangeError(`${name} is a positive whole number`);
}
