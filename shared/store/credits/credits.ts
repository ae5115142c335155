import { newId } from '../../domain/text/ids.ts';
import { type Batch, BatchClosed, openBatch, WaitedTooLong } from '../../platform/batch.ts';
import { type ConnectionLog, watchConnection } from '../../platform/connection-log.ts';
import type { Db } from '../../platform/db.ts';
import { isOutage, retryUntilKnown } from '../../platform/pg-errors.ts';
import { type Balance, createBalances, forwardBonus } from './accounts.ts';
import { type AnswerToKeep, findHolds, type HoldOrder, type HoldState, type Mark, type MovedRow, move, type Settlement } from './moves.ts';

/** A spending cap that an account set and that leaves less than one unit for a call today. */
export interface ReachedCap {
    of: 'account' | 'key';
    /** Credits a day. */
    cap: number;
    /** Credits spent today or held by running calls. */
    spent: number;
    /** The next midnight, UTC. */
    resetsAt: Date;
}

export type HoldVerdict =
    | {
          ok: true;
          operation: string;
          /** Held credits: `units` times the price of a unit. */
          amount: number;
          units: number;
          availableAfter: number;
      }
    | {
          ok: false;
          available: number;
          isStale?: boolean;
          /** Set if credits remain, but a cap leaves less than one unit for this call. */
          reached?: ReachedCap;
      };

type ChargeVerdict =
    | {
          ok: true;
          charged: number;
          /** Remaining credits, including bonus. */
          available: number;
          /** 50 for the first charged fetch of a user, otherwise 0. */
          firstFetchBonus: number;
          /** The stored answer, if the charge had one. */
          kept?: string;
      }
    | { ok: false; state: HoldState | 'unknown'; marked: boolean; available: number };

interface ReleaseVerdict {
    /** `held` or `sent`: this call released the hold. Otherwise another call ended it first, or there is no such hold. */
    before: HoldState | 'unknown';
    /** Whether a worker marked the hold as sent, even if another call ended it. A failed write is then OUTCOME_UNKNOWN. */
    marked: boolean;
    available: number;
}

/** `amount`: credits held now, or before the hold ended. */
type HoldView = Pick<MovedRow, 'state' | 'marked' | 'amount' | 'charged'>;

interface Swept {
    /** Number of holds released because they were not settled in time. */
    released: number;
    /** Number of accounts whose period ended. */
    turned: number;
    /** Bonus credits that moved to the account that replaced an unused one. */
    forwarded: number;
}

/**
 * The movements of credits (docs/api.md, "Credits"). All movements of one tick share one statement and one commit. Every method rejects
 * with the error of the database if the outcome could not be learned in time or nothing was done.
 */
export interface Credits {
    /** Holds as many of the wanted units as the balance and the caps allow. Refuses if that is less than one unit. */
    hold(order: HoldOrder): Promise<HoldVerdict>;
    /** Charges the cost, cut to the held amount, and releases the rest, once. An `answer` is stored with the charge or not at all. */
    charge(charge: { operation: string; amount: number; answer?: AnswerToKeep | undefined }): Promise<ChargeVerdict>;
    release(release: { operation: string }): Promise<ReleaseVerdict>;
    /** Marks a hold as `sent`. A worker sends the write only after true: after an error the state is unknown. */
    markSent(operation: string): Promise<boolean>;
    stateOf(operation: string): Promise<HoldView | undefined>;
    balance(accountId: string): Promise<Balance | undefined>;
    /** The estimated duration of a charge in milliseconds: the rest of the current batch plus the charge's own batch. */
    settlingMs(): number;
    /** Releases expired holds and starts due periods, at most `limit` of each. Any process may run it, also concurrently. */
    sweep(limit?: number): Promise<Swept>;
    /** Rejects new movements and waits for the pending ones. */
    close(): Promise<void>;
}

interface CreditsOptions {
    /** Logs when credits cannot be held, and when they can again. Without holds, no fetch is served. */
    log?: ConnectionLog;
    /** The pool for reading balances, so that no movement waits for readers. By default the pool of the movements. */
    reads?: Db;
    /** How long a hold is retried while the database is unreachable, in milliseconds. */
    patienceMs?: number;
    /** Like `patienceMs`, for charges, releases and marks. Their call is already running. */
    settlePatienceMs?: number;
    /** Timeout of a statement, in milliseconds. */
    timeoutMs?: number;
    /** Maximum wait for a place in a batch, in milliseconds. */
    maxWaitMs?: number;
}

/** Opens the credits of the accounts in `db`. Close them before the pool. */
export function openCredits(db: Db, { reads = db, log, ...options }: CreditsOptions = {}): Credits {
    const status = log && watchConnection(log, 'credits');
    const limits: Limits = { patienceMs: 300, settlePatienceMs: 2000, timeoutMs: 5000, maxWaitMs: 2500, ...options };
    const { batch: moves, settlingMs } = openMoves(db, limits);
    // Settlements that store an answer, or that are retried after an outage. They take longer and must not delay holds.
    const settlements = openBatches(db, { ...limits, patienceMs: limits.settlePatienceMs });
    // Only workers mark. A mark may be retried for as long as a charge: nothing was sent yet, and the call's deadline ends it.
    const marks = openBatches(db, { ...limits, patienceMs: limits.settlePatienceMs });

    async function settle(settlement: Settlement): Promise<Settled> {
        if (settlement.answer !== undefined) return settlements.add({ settlement });
        try {
            return await moves.add({ settlement });
        } catch (error) {
            if (!isOutage(error) || error instanceof BatchClosed) throw error;
            // The last attempt may have been committed although its answer was lost.
            return settlements.add({ settlement: { ...settlement, mayBeDone: !(error instanceof WaitedTooLong) } });
        }
    }

    return {
        async hold(order) {
            assertPositiveInteger('unit', order.unit);
            assertPositiveInteger('maxUnits', order.maxUnits);
            try {
                const held = await moves.add({ order });
                status?.up();
                return holdVerdict(held);
            } catch (error) {
                if (isOutage(error) && !(error instanceof BatchClosed || error instanceof WaitedTooLong)) status?.down(error);
                throw error;
            }
        },
        async charge({ operation, amount, answer }) {
            if (!Number.isSafeInteger(amount) || amount < 0) throw new RangeError('a charge must be a whole number of credits, at least 0');
            const { won, state, marked, charged, available, first_fetch, remaining } = await settle({ operation, charge: amount, answer });
            if (!won) return { ok: false, state, marked, available };
            const kept = answer && { kept: `${answer.head}${remaining ?? available}${answer.tail}` };
            return { ok: true, charged, available, firstFetchBonus: first_fetch, ...kept };
        },
        async release({ operation }) {
            const { won, state, marked, available } = await settle({ operation, charge: null });
            return { before: won ? (marked ? 'sent' : 'held') : state, marked, available };
        },
        markSent: async (operation) => (await marks.add({ mark: { operation, by: newId('op') } })).won,
        stateOf: (operation) => stateOf(db, operation),
        balance: createBalances(reads),
        settlingMs,
        sweep: (limit = 500) => sweep(db, limit),
        async close() {
            await Promise.all([moves.close(), marks.close()]);
            await settlements.close();
        },
    };
}

type Limits = Required<Omit<CreditsOptions, 'reads' | 'log'>>;
type Move = { order: HoldOrder } | { settlement: Settlement } | { mark: Mark };
/** A row of `credits_move`; `unknown`: such a hold never existed. */
type Settled = Omit<MovedRow, 'state'> & { state: HoldState | 'unknown' };

/** How long the duration of a batch predicts the duration of the next one. */
const SETTLING_KNOWN_MS = 5000;
/** Maximum size of the answers in one statement, in bytes. */
const MAX_ANSWER_BYTES = 1024 * 1024;

/** Holds and settlements share a statement, because they lock the same accounts. One batch runs at a time, in order of arrival. */
function openMoves(db: Db, { patienceMs, timeoutMs, maxWaitMs }: Limits): { batch: Batch<Move, Settled>; settlingMs(): number } {
    let last = { ms: 0, at: Number.NEGATIVE_INFINITY };
    const batch = openBatch<Move, Settled>({
        async run(moves) {
            const begun = performance.now();
            try {
                return await moveAll(db, moves, { patienceMs, timeoutMs });
            } finally {
                const at = performance.now();
                last = { ms: at - begun, at };
            }
        },
        keyOf: operationOf,
        failsWholeBatch: isOutage,
        // A waiting hold has done nothing yet, so it fails with the batch. Settlements are retried.
        failsWithBatch: (waiting) => 'order' in waiting,
        maxInFlight: 1,
        maxWaitMs,
    });
    return { batch, settlingMs: () => (performance.now() - last.at < SETTLING_KNOWN_MS ? 2 * last.ms : 0) };
}

/** Runs up to two batches at a time, and limits the bytes of answers in each. */
function openBatches(db: Db, { patienceMs, timeoutMs, maxWaitMs }: Limits): Batch<Move, Settled> {
    return openBatch<Move, Settled>({
        run: (moves) => moveAll(db, moves, { patienceMs, timeoutMs }),
        keyOf: operationOf,
        failsWholeBatch: isOutage,
        failsWithBatch: () => false,
        sizeOf: (move) => ('settlement' in move ? (move.settlement.answer?.sealed.length ?? 0) : 0),
        maxTotal: MAX_ANSWER_BYTES,
        maxWaitMs: Math.max(maxWaitMs, patienceMs),
    });
}

/** Runs movements in one statement, retried while the database is unreachable. Returns a row for each, in their order. */
async function moveAll(db: Db, moves: readonly Move[], limits: { patienceMs: number; timeoutMs: number }): Promise<Settled[]> {
    const orders = moves.flatMap((one) => ('order' in one ? [one.order] : []));
    const settlements = moves.flatMap((one) => ('settlement' in one ? [one.settlement] : []));
    const marks = moves.flatMap((one) => ('mark' in one ? [one.mark] : []));
    return retryUntilKnown(limits.patienceMs, async (mayBeDone) => {
        const rows = new Map<string, MovedRow>();
        if (mayBeDone) for (const row of await findHolds(db, orders, limits.timeoutMs)) rows.set(row.operation, row);
        const left = orders.filter(({ operation }) => !rows.has(operation));
        for (const row of await move(db, { orders: left, settlements, marks }, limits.timeoutMs)) rows.set(row.operation, row);
        return moves.map((one) => {
            const row = rows.get(operationOf(one)) ?? NO_HOLD;
            return 'settlement' in one ? recogniseRetry(row, one.settlement, mayBeDone) : row;
        });
    });
}

const NO_HOLD: Settled = {
    operation: '',
    won: false,
    state: 'unknown',
    marked: false,
    charged: 0,
    first_fetch: 0,
    available: 0,
    amount: 0,
    units: 0,
    is_stale: false,
    limited_by: null,
    cap: 0,
    spent: 0,
    resets_at: new Date(0),
};

/** After a lost answer, a hold that ended as we wanted was ended here: no other call settles this operation. */
function recogniseRetry(row: Settled, { charge, mayBeDone }: Settlement, isTriedAgain: boolean): Settled {
    const isOurs = (isTriedAgain || mayBeDone === true) && row.state === (charge === null ? 'released' : 'charged');
    return isOurs ? { ...row, won: true } : row;
}

function holdVerdict({ operation, won, amount, units, available, is_stale, limited_by, cap, spent, resets_at }: Settled): HoldVerdict {
    if (won) return { ok: true, operation, amount, units, availableAfter: available };
    if (is_stale) return { ok: false, available, isStale: true };
    if (limited_by === null) return { ok: false, available };
    return { ok: false, available, reached: { of: limited_by, cap, spent, resetsAt: resets_at } };
}

function operationOf(one: Move): string {
    return ('order' in one ? one.order : 'settlement' in one ? one.settlement : one.mark).operation;
}

async function stateOf(db: Db, operation: string): Promise<HoldView | undefined> {
    const [marked, charged] = [db.raw('sent_at is not null'), db.raw('coalesce(charged, 0)')];
    return db('holds').where({ operation }).first({ state: 'state', marked, amount: 'amount', charged });
}

async function sweep(db: Db, limit: number): Promise<Swept> {
    const { released } = await db.first<{ released: number }>(db.raw('credits_sweep(?) as released', [limit]));
    const { turned } = await db.first<{ turned: number }>(db.raw('credits_turn_due(?) as turned', [limit]));
    return { released, turned, forwarded: await forwardBonus(db) };
}

function assertPositiveInteger(name: string, value: number): void {
    if (!Number.isSafeInteger(value) || value < 1) throw new RangeError(`${name} must be a positive whole number`);
}
