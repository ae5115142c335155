import type { Db } from '../db.ts';
import { newId } from '../domain/ids.ts';
import { type Batch, openBatch, WaitedTooLong } from './batch.ts';
import { type Balance, forwardBonus, openBalances } from './credits/accounts.ts';
import { type AnsweredCharge, type AnsweredSettled, type AnswerToKeep, settleAnswered } from './credits/answered.ts';
import { BONUSES } from './credits/bonuses.ts';
import { holdCapped } from './credits/capped-holds.ts';
import type { HoldOrder, HoldVerdict } from './credits/holds.ts';
import { markAll } from './credits/marks.ts';
import { type Move, type Moved, moveAll } from './credits/moves.ts';
import { isOutage } from './credits/outages.ts';
import { type HoldState, type Settled, type Settlement, settleAll } from './credits/settlements.ts';

export type { AccountPlan, Balance, Overrides, PaidPeriod } from './credits/accounts.ts';
export { changePlan, openAccount, payerOf, readBalance, renewWorkspace, setLimits } from './credits/accounts.ts';
export { BONUSES, earnContribution, grantBonus } from './credits/bonuses.ts';
export type { ReachedCap } from './credits/capped-holds.ts';
export type { HoldOrder, HoldVerdict } from './credits/holds.ts';
export type { HoldState } from './credits/settlements.ts';
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

export interface Standing {
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
 * The movements of money (CONTRACT section 2). Whatever arrives in one tick is one statement and one commit. Every method
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
    stateOf(operation: string): Promise<Standing | undefined>;
    balance(accountId: string): Promise<Balance | undefined>;
    /** About how many milliseconds a charge takes at the moment: the batch that is under way, and its own. */
    settlingMs(): number;
    /** Releases forgotten holds and turns ended periods, at most `limit` of each. Safe to run anywhere, at once. */
    sweep(limit?: number): Promise<Swept>;
    /** Takes nothing more and waits for what was taken. */
    close(): Promise<void>;
}

export interface CreditsOptions {
    /** How long a hold or mark tries again when the database is away, in milliseconds. */
    patienceMs?: number;
    /** The same for charges and releases, whose work is done already. */
    settlePatienceMs?: number;
    /** Longest a statement may take, in milliseconds. */
    timeoutMs?: number;
    /** Longest wait for a place in a batch, in milliseconds. */
    maxWaitMs?: number;
}

/** How long the time of a batch says something about the next one. */
const SETTLING_KNOWN_MS = 5000;
/** Answers with more characters are written one at a time. */
const LARGE_ANSWER = 64 * 1024;

/** Opens the credits of `db`'s accounts; close them before the pool. */
export function openCredits(db: Db, options: CreditsOptions = {}): Credits {
    const { patienceMs = 300, settlePatienceMs = 2000, timeoutMs = 5000, maxWaitMs = 2500 } = options;
    const me = newId('op');
    let last = { ms: 0, at: Number.NEGATIVE_INFINITY };
    const moves: Batch<Move, Moved> = openBatch<Move, Moved>({
        async run(items) {
            const begun = performance.now();
            const moved = await moveAll(db, items, BONUSES, { patienceMs, timeoutMs });
            const at = performance.now();
            last = { ms: at - begun, at };
            const lost = moved.find((one) => 'failed' in one);
            // Nothing is done yet for a hold that waits; a settlement is tried longer.
            if (lost !== undefined) moves.turnAway((move) => 'hold' in move, lost.failed);
            return moved;
        },
        keyOf: (move) => ('hold' in move ? move.hold.operation : move.settle.operation),
        isCommonFate: isOutage,
        maxInFlight: 1,
        maxWaitMs,
    });
    // What could not be settled at once is tried longer, where it holds up no hold.
    const settlements = openBatch<Settlement, Settled>({
        run: (items) => settleAll(db, items, BONUSES, { patienceMs: settlePatienceMs, timeoutMs }),
        keyOf: (item) => item.operation,
        isCommonFate: isOutage,
        maxInFlight: 1,
        maxWaitMs: Math.max(maxWaitMs, settlePatienceMs),
    });
    const settle = async (settlement: Settlement): Promise<Settled> => {
        const moved = await moves.add({ settle: settlement }).catch((error: unknown): Moved => {
            if (error instanceof WaitedTooLong) return { unsettled: settlement };
            throw error;
        });
        if ('settled' in moved) return moved.settled;
        if ('unsettled' in moved) return settlements.add(moved.unsettled);
        throw new Error('a settlement was answered as a hold');
    };
    // Answers are large: in lanes of their own they hold up no other charge, and the largest ones travel alone.
    const answered = (maxSize: number) =>
        openBatch<AnsweredCharge, AnsweredSettled>({
            run: (items) => settleAnswered(db, items, BONUSES, { patienceMs: settlePatienceMs, timeoutMs }),
            keyOf: (item) => item.operation,
            isCommonFate: isOutage,
            maxSize,
            maxWaitMs: Math.max(maxWaitMs, settlePatienceMs),
        });
    const smallAnswers = answered(100);
    const largeAnswers = answered(1);
    // Those who set themselves a cap are held one by one, beside all others.
    const capped: Batch<HoldOrder, HoldVerdict> = openBatch<HoldOrder, HoldVerdict>({
        run: (orders) =>
            Promise.all(orders.map((order) => holdCapped(db, order, { patienceMs, timeoutMs }))).catch((error: unknown) => {
                if (isOutage(error)) capped.turnAway(() => true, error);
                throw error;
            }),
        keyOf: (order) => order.operation,
        isCommonFate: isOutage,
        maxSize: 1,
        maxWaitMs,
    });
    const marks = openBatch<string, boolean>({
        run: (operations) => markAll(db, operations, me, { patienceMs, timeoutMs }),
        keyOf: (operation) => operation,
        isCommonFate: isOutage,
        maxWaitMs,
    });

    return {
        async hold(order) {
            mustBePositive('unit', order.unit);
            mustBePositive('maxUnits', order.maxUnits);
            if (order.isCapped === true) return capped.add(order);
            const moved = await moves.add({ hold: order });
            if ('held' in moved) return moved.held;
            throw 'failed' in moved ? moved.failed : new Error('a hold was answered as a settlement');
        },
        async charge({ operation, amount, answer }) {
            if (!Number.isSafeInteger(amount) || amount < 0) throw new RangeError('a charge is a whole number of credits');
            if (answer !== undefined) {
                const lane = answer.head.length > LARGE_ANSWER ? largeAnswers : smallAnswers;
                const { won, state, marked, charged, available, firstFetchBonus, kept } = await lane.add({
                    operation,
                    charge: amount,
                    answer,
                });
                if (!won) return { ok: false, state, marked, available };
                return { ok: true, charged, available, firstFetchBonus, kept: kept ?? `${answer.head}${available}${answer.tail}` };
            }
            const { won, state, marked, charged, available, firstFetchBonus } = await settle({ operation, charge: amount });
            return won ? { ok: true, charged, available, firstFetchBonus } : { ok: false, state, marked, available };
        },
        async release({ operation }) {
            const { won, state, marked, available } = await settle({ operation, charge: null });
            return { before: won ? (marked ? 'sent' : 'held') : state, marked, available };
        },
        markSent: (operation) => marks.add(operation),
        stateOf: (operation) => stateOf(db, operation),
        balance: openBalances(db),
        settlingMs: () => (performance.now() - last.at < SETTLING_KNOWN_MS ? 2 * last.ms : 0),
        sweep: (limit = 500) => sweep(db, limit),
        async close() {
            const open: { close(): Promise<void> }[] = [moves, capped, marks, smallAnswers, largeAnswers];
            await Promise.all(open.map((batch) => batch.close()));
            await settlements.close();
        },
    };
}

async function stateOf(db: Db, operation: string): Promise<Standing | undefined> {
    const { rows } = await db.raw<{ rows: Standing[] }>(
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
