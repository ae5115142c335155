import type { App } from '../../shared/app.ts';
import { openBatchByKey } from '../../shared/platform/batch.ts';
import type { Db } from '../../shared/platform/db.ts';
import { once } from '../../shared/platform/once.ts';
import { isOutage, retryUntilKnown } from '../../shared/platform/pg-errors.ts';
import { findCallerById } from '../../shared/store/accounts/callers.ts';
import type { Balance } from '../../shared/store/credits/accounts.ts';
import { type BatchBudget, beginAttempts, readBudget, type StartOrder, type StartResult } from '../../shared/store/jobs/begins.ts';
import { type ClaimedJob, putBack, type Returned, storedBytes } from '../../shared/store/jobs/claims.ts';
import { endAtOnce } from '../../shared/store/jobs/end-at-once.ts';
import { endAttempts } from '../../shared/store/jobs/ends.ts';
import type { EndedAttempt, EndingAttempt } from '../../shared/store/jobs/write-ends.ts';

/** How long to retry writing an end while the database is unavailable. */
const SETTLE_MS = 4000;
/** Bytes of results in one statement. */
const STATEMENT_BYTES = 1024 * 1024;
/** Maximum number of jobs that are claimed, and of items that begin or end, in one statement. */
export const MAX_SLICE = 100;

export type Slice = ReturnType<typeof openSlice>;

/**
 * Opens the items of one batch that were claimed together, or one job. They share key, batch and account, so these are read once; what an
 * item uses is subtracted.
 */
export function openSlice({ db, credits }: App, { keyId }: Pick<ClaimedJob, 'keyId'>) {
    let expected = 0;
    const caller = once(() => findCallerById(db, keyId));
    const balance = once((accountId: string) => credits.balance(accountId));
    const budget = once((batchId: string) => readBudget(db, batchId));
    const kept = once((accountId: string) => storedBytes(db, accountId));
    return {
        caller,
        /** The account's balance, minus what items of this slice are about to hold. */
        async balance(accountId: string): Promise<Pick<Balance, 'available' | 'held'>> {
            const { available = 0, held = 0 } = (await balance(accountId)) ?? {};
            return { available: Math.max(0, available - expected), held: held + expected };
        },
        /** The budget of the batch, minus what items of this slice are about to hold. */
        async budget(batchId: string): Promise<BatchBudget | undefined> {
            const now = await budget(batchId);
            return now && { ...now, held: now.held + expected };
        },
        /** Notes that an item is about to hold these credits. */
        expect(more: number): void {
            expected += more;
        },
        storedBytes: kept,
    };
}

export type Attempts = ReturnType<typeof openAttempts>;

/** Opens the writer of attempts: their starts, ends, and returns to the queue. Concurrent writes of one batch share a transaction. */
export function openAttempts({ db }: App) {
    const alike = { keyOf: (one: { operation: string }) => one.operation, failsWholeBatch: isOutage, maxInFlight: 1, maxSize: MAX_SLICE };
    const keyOfBatch = ({ batchId, jobId }: { batchId: string | null; jobId: string }) => batchId ?? jobId;
    const begins = openBatchByKey<StartOrder, StartResult>({
        ...alike,
        keyOfBatch,
        run: (jobs) => beginAttempts(db, jobs[0]?.batchId ?? null, jobs),
    });
    const openEnds = (write: (db: Db, attempts: readonly EndingAttempt[]) => Promise<EndedAttempt[]>) =>
        openBatchByKey<EndingAttempt, EndedAttempt>({
            ...alike,
            keyOfBatch,
            failsWithBatch: () => false,
            sizeOf: ({ bytes }) => bytes,
            maxTotal: STATEMENT_BYTES,
            run: (attempts) => retryUntilKnown(SETTLE_MS, () => write(db, attempts)),
        });
    const endsAtOnce = openEnds(endAtOnce);
    const endsInSteps = openEnds(endAttempts);
    const end = async (attempt: EndingAttempt) =>
        (attempt.batchId === null ? undefined : await endsAtOnce.add(attempt)) ?? (await endsInSteps.add(attempt));
    const returns = openBatchByKey<Returned, void>({
        ...alike,
        keyOfBatch: (job) => `${keyOfBatch(job)} ${job.waitingFor}`,
        async run(jobs) {
            await putBack(db, jobs);
            return jobs.map(() => undefined);
        },
    });
    return { begin: begins.add, end, putBack: returns.add };
}
