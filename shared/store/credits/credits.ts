import { newId } from '../../domain/text/ids.ts';
import { type Batch, BatchClosed, openBatch, WaitedTooLong } from '../../platform/batch.ts';
import type { Db } from '../../platform/db.ts';
import { isOutage, retryUntilKnown } from '../../platform/pg-errors.ts';
import { type Balance, createBalances, forwardBonus } from './accounts.ts';
import { type AnswerToKeep, findHolds, type HoldOrder, type HoldState, type Mark, type MovedRow, move, type Settlement } from './moves.ts';

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
export type { AnswerToKeep, HoldOrder, HoldState } from './moves.ts';

/** A cap that an account set itself, and that leaves no unit for a call today. */
export interface ReachedCap {
    of: 'account' | 'key';
    /** Credits a day. */
    cap: number;
    /** Spent today, or held by calls in flight. */
    spent: number;
    /** Midnight, UTC. */
    resetsAt: Date;
}

export type HoldVerdict =
    | {
          ok: true;
          operation: string;
          /** Credits held: `units` times the unit. */
          amount: number;
          units: number;
          availableAfter: number;
      }
    | {
          ok: false;
          available: number;
          isStale?: boolean;
          /** There are credits, and a cap that leaves none of them for this call. */
          reached?: ReachedCap;
      };

type ChargeVerdict =
    | {
          ok: true;
          charged: number;
          /** Credits left, with bonus. */
          available: number;
          /** 50 with the user's first charged fetch, otherwise 0. */
          firstFetchBonus: number;
          /** The answer as it is kept, where one was given to keep. */
          kept?: string;
      }
    | { ok: false; state: HoldState | 'unknown'; marked: boolean; available: number };

interface ReleaseVerdict {
    /** `held` or `sent`: this call released it. Otherwise another call was first, or there is no such hold. */
    before: HoldState | 'unknown';
    /** Whether a worker marked it as sent, also where another call was first: a failed write is then OUTCOME_UNKNOWN. */
    marked: boolean;
    available: number;
}

interface HoldView {
    state: HoldState;
    marked: boolean;
    /** Credits held, or that were. */
    amount: number;
    charged: number;
}

interface Swept {
    /** Holds released because they were not settled in time. */
    released: number;
    /** Accounts whose period ended. */
    turned: number;
    /** Bonus credits that followed their owner to another account. */
    forwarded: number;
}

/**
 * The movements of money (docs/api.md, "Credits"). What arrives in one tick is one statement and one commit. Every method
 * rejects with the database's error where the outcome could not be learned in time, or where nothing was done.
 */
export interface Credits {
    /** Holds as many units as are wanted, paid for and within the caps; refused below one unit. */
    hold(order: HoldOrder): Promise<HoldVerdict>;
    /**
     * Charges the exact cost, at most the hold (more is cut to it), and gives back the rest. A hold that has ended stays as it is.
     * With an `answer`, charge and answer are kept together or not at all.
     */
    charge(charge: { operation: string; amount: number; answer?: AnswerToKeep | undefined }): Promise<ChargeVerdict>;
    /** Gives the whole hold back. */
    release(release: { operation: string }): Promise<ReleaseVerdict>;
    /** A worker's `held → sent`; it sends only if this is true. An error means: not known, so nothing may be sent. */
    markSent(operation: string): Promise<boolean>;
    /** The state of a hold; undefined if there is none. */
    stateOf(operation: string): Promise<HoldView | undefined>;
    balance(accountId: string): Promise<Balance | undefined>;
    /** The estimated time of a charge in milliseconds: the rest of the current batch plus its own. */
    settlingMs(): number;
    /** Releases forgotten holds and turns ended periods, at most `limit` of each. Safe to run anywhere, at once. */
    sweep(limit?: number): Promise<Swept>;
    /** Accepts no more movements and waits for the pending ones. */
    close(): Promise<void>;
}

interface CreditsOptions {
    /** The pool for reading balances, so that no movement waits behind readers; by default the same. */
    reads?: Db;
    /** How long a hold tries again when the database is away, in milliseconds. */
    patienceMs?: number;
    /** The same for charges, releases and marks, whose call runs already. */
    settlePatienceMs?: number;
    /** Longest a statement may take, in milliseconds. */
    timeoutMs?: number;
    /** Longest wait for a place in a batch, in milliseconds. */
    maxWaitMs?: number;
}

/** Opens the credits of `db`'s accounts; close them before the pool. */
export function openCredits(db: Db, { reads = db, ...options }: CreditsOptions = {}): Credits {
    const limits: Limits = { patienceMs: 300, settlePatienceMs: 2000, timeoutMs: 5000, maxWaitMs: 2500, ...options };
    const { batch: moves, settlingMs } = openMoves(db, limits);
    // With answers to keep, or tried again after an outage: they take longer and must delay no hold.
    const settlements = openBatches(db, { ...limits, patienceMs: limits.settlePatienceMs });
    // Of workers, which move nothing else. A mark may be tried as long as a charge: nothing was sent yet, and the call's deadline ends it.
    const marks = openBatches(db, { ...limits, patienceMs: limits.settlePatienceMs });

    async function settle(settlement: Settlement): Promise<Settled> {
        if (settlement.answer !== undefined) return settlements.add({ settlement });
        try {
            return await moves.add({ settlement });
        } catch (error) {
            if (!isOutage(error) || error instanceof BatchClosed) throw error;
            // The last try may have been committed, and only its answer is missing.
            return settlements.add({ settlement: { ...settlement, mayBeDone: !(error instanceof WaitedTooLong) } });
        }
    }

    return {
        async hold(order) {
            mustBePositive('unit', order.unit);
            mustBePositive('maxUnits', order.maxUnits);
            return holdVerdict(await moves.add({ order }));
        },
        async charge({ operation, amount, answer }) {
            if (!Number.isSafeInteger(amount) || amount < 0) throw new RangeError('a charge is a whole number of credits');
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

type Limits = Required<Omit<CreditsOptions, 'reads'>>;
type Move = { order: HoldOrder } | { settlement: Settlement } | { mark: Mark };
/** A row of `credits_move`; `unknown`: there never was such a hold. */
type Settled = Omit<MovedRow, 'state'> & { state: HoldState | 'unknown' };

/** The time of a batch predicts the next one for this long. */
const SETTLING_KNOWN_MS = 5000;
/** Bytes of answers in one statement. */
const MAX_ANSWER_BYTES = 1024 * 1024;

/** Holds and settlements share a statement, since they lock the same accounts: one batch at a time, in order of arrival. */
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
        isCommonFate: isOutage,
        // Waiting holds have done nothing yet. Settlements are tried again.
        sharesFate: (waiting) => 'order' in waiting,
        maxInFlight: 1,
        maxWaitMs,
    });
    return { batch, settlingMs: () => (performance.now() - last.at < SETTLING_KNOWN_MS ? 2 * last.ms : 0) };
}

/** Up to two batches at a time, and not too many bytes of answers in one. */
function openBatches(db: Db, { patienceMs, timeoutMs, maxWaitMs }: Limits): Batch<Move, Settled> {
    return openBatch<Move, Settled>({
        run: (moves) => moveAll(db, moves, { patienceMs, timeoutMs }),
        keyOf: operationOf,
        isCommonFate: isOutage,
        sharesFate: () => false,
        sizeOf: (move) => ('settlement' in move ? (move.settlement.answer?.sealed.length ?? 0) : 0),
        maxTotal: MAX_ANSWER_BYTES,
        maxWaitMs: Math.max(maxWaitMs, patienceMs),
    });
}

/** Makes these moves in one statement, tried again for a while when the database is away; a row for each, in their order. */
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

/** After a lost answer, a hold that ended the way we wanted is our own work: no other call charges or gives up this operation. */
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

function mustBePositive(name: string, value: number): void {
    if (!Number.isSafeInteger(value) || value < 1) throw new RangeError(`${name} is a positive whole number`);
}
