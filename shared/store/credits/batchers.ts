import { newId } from '../../domain/text/ids.ts';
import { type Batch, openBatch, WaitedTooLong } from '../../platform/batch.ts';
import type { Db } from '../../platform/db.ts';
import { isOutage } from '../../platform/pg-errors.ts';
import { type AnsweredCharge, type AnsweredSettled, settleAnswered } from './answered.ts';
import { type Move, type Moved, moveAll } from './batch-moves.ts';
import { BONUSES } from './bonuses.ts';
import { holdCapped } from './capped-holds.ts';
import type { HoldOrder, HoldVerdict } from './holds.ts';
import { markAll } from './mark-sent.ts';
import { type Settled, type Settlement, settleAll } from './settlements.ts';

export interface BatcherOptions {
    /** How long a hold or mark tries again when the database is away, in milliseconds. */
    patienceMs?: number;
    /** The same for charges and releases, whose work is done already. */
    settlePatienceMs?: number;
    /** Longest a statement may take, in milliseconds. */
    timeoutMs?: number;
    /** Longest wait for a place in a batch, in milliseconds. */
    maxWaitMs?: number;
}

/**
 * The batchers for credit movements. The movements of one tick share one query and one commit. Slow kinds have batchers of their own. Each
 * method rejects with the database's error where the outcome is unknown in time.
 */
export interface Batchers {
    hold(order: HoldOrder): Promise<HoldVerdict>;
    settle(settlement: Settlement): Promise<Settled>;
    /** A charge with the answer that is kept with it. */
    settleAnswered(charge: AnsweredCharge): Promise<AnsweredSettled>;
    mark(operation: string): Promise<boolean>;
    /** The estimated time of a settlement in milliseconds: the rest of the current batch plus its own. */
    settlingMs(): number;
    /** Accepts no more movements and waits for the pending ones. */
    close(): Promise<void>;
}

type Limits = Required<BatcherOptions>;

/** The time of a batch predicts the next one for this long. */
const SETTLING_KNOWN_MS = 5000;
/** Answers with more characters are written one at a time. */
const LARGE_ANSWER = 64 * 1024;

/** Opens the batchers of one process; close them before the pool. */
export function openBatchers(db: Db, options: BatcherOptions): Batchers {
    const limits: Limits = { patienceMs: 300, settlePatienceMs: 2000, timeoutMs: 5000, maxWaitMs: 2500, ...options };
    const me = newId('op');
    const moves = openMoves(db, limits);
    const settlements = openSettlements(db, limits);
    const capped = openCapped(db, limits);
    // Answers are large. They have batchers of their own, so that they delay no other charge.
    const smallAnswers = openAnswered(db, limits, 100);
    const largeAnswers = openAnswered(db, limits, 1);
    const marks = openBatch<string, boolean>({
        run: (operations) => markAll(db, operations, me, limits),
        keyOf: (operation) => operation,
        isCommonFate: isOutage,
        sharesFate: () => false,
        maxWaitMs: limits.maxWaitMs,
    });
    return {
        async hold(order) {
            if (order.isCapped === true) return capped.add(order);
            const moved = await moves.batch.add({ hold: order });
            if ('held' in moved) return moved.held;
            throw 'failed' in moved ? moved.failed : new Error('a hold was answered as a settlement');
        },
        async settle(settlement) {
            const moved = await moves.batch.add({ settle: settlement }).catch((error: unknown): Moved => {
                if (error instanceof WaitedTooLong) return { unsettled: settlement };
                throw error;
            });
            if ('settled' in moved) return moved.settled;
            if ('unsettled' in moved) return settlements.add(moved.unsettled);
            throw new Error('a settlement was answered as a hold');
        },
        settleAnswered: (charge) => (charge.answer.head.length > LARGE_ANSWER ? largeAnswers : smallAnswers).add(charge),
        mark: (operation) => marks.add(operation),
        settlingMs: () => moves.settlingMs(),
        async close() {
            const open: { close(): Promise<void> }[] = [moves.batch, capped, marks, smallAnswers, largeAnswers];
            await Promise.all(open.map((batch) => batch.close()));
            await settlements.close();
        },
    };
}

/** Batches holds and settlements together, in order of arrival. */
function openMoves(db: Db, { patienceMs, timeoutMs, maxWaitMs }: Limits): { batch: Batch<Move, Moved>; settlingMs(): number } {
    let last = { ms: 0, at: Number.NEGATIVE_INFINITY };
    const batch: Batch<Move, Moved> = openBatch<Move, Moved>({
        async run(items) {
            const begun = performance.now();
            const moved = await moveAll(db, items, BONUSES, { patienceMs, timeoutMs });
            const at = performance.now();
            last = { ms: at - begun, at };
            const lost = moved.find((one) => 'failed' in one);
            // Waiting holds have done nothing yet and can fail at once. Settlements are retried.
            if (lost !== undefined) batch.turnAway((move) => 'hold' in move, lost.failed);
            return moved;
        },
        keyOf: (move) => ('hold' in move ? move.hold.operation : move.settle.operation),
        isCommonFate: isOutage,
        sharesFate: () => false,
        maxInFlight: 1,
        maxWaitMs,
    });
    return { batch, settlingMs: () => (performance.now() - last.at < SETTLING_KNOWN_MS ? 2 * last.ms : 0) };
}

/** Retries settlements that failed in the first batch, without delaying holds. */
function openSettlements(db: Db, { settlePatienceMs, timeoutMs, maxWaitMs }: Limits): Batch<Settlement, Settled> {
    return openBatch<Settlement, Settled>({
        run: (items) => settleAll(db, items, BONUSES, { patienceMs: settlePatienceMs, timeoutMs }),
        keyOf: (item) => item.operation,
        isCommonFate: isOutage,
        sharesFate: () => false,
        maxInFlight: 1,
        maxWaitMs: Math.max(maxWaitMs, settlePatienceMs),
    });
}

function openAnswered(db: Db, { settlePatienceMs, timeoutMs, maxWaitMs }: Limits, maxSize: number): Batch<AnsweredCharge, AnsweredSettled> {
    return openBatch<AnsweredCharge, AnsweredSettled>({
        run: (items) => settleAnswered(db, items, BONUSES, { patienceMs: settlePatienceMs, timeoutMs }),
        keyOf: (item) => item.operation,
        isCommonFate: isOutage,
        sharesFate: () => false,
        maxSize,
        maxWaitMs: Math.max(maxWaitMs, settlePatienceMs),
    });
}

/** Orders with a spending cap are held one by one. */
function openCapped(db: Db, { patienceMs, timeoutMs, maxWaitMs }: Limits): Batch<HoldOrder, HoldVerdict> {
    return openBatch<HoldOrder, HoldVerdict>({
        run: (orders) => Promise.all(orders.map((order) => holdCapped(db, order, { patienceMs, timeoutMs }))),
        keyOf: (order) => order.operation,
        isCommonFate: isOutage,
        maxSize: 1,
        maxWaitMs,
    });
}
