import type { FetchJob, FetchOutcome } from '../../domain/fetch/fetch-job.ts';
import type { ConnectionLog } from '../../platform/connection-log.ts';

/** Interval of the comparisons of the clocks. */
const COMPARE_MS = 10_000;
/** The interval after no answer, or after one that took so long (ROUGH_MS) that the time of the store is known only roughly. */
const RETRY_MS = 1000;
const ROUGH_MS = 50;
/** Clocks of machines that are set by NTP differ by less. */
const TOLERATED_MS = 1000;

export type StoreClock = ReturnType<typeof openStoreClock>;

/**
 * The clock of the queue's store. Processes exchange times by this clock, because the clocks of their machines may differ by minutes.
 * It runs on the monotonic clock of this process, so a jump of the machine's clock does not move it.
 * @param read asks the store for its time, in milliseconds since the epoch
 */
export function openStoreClock(read: () => Promise<number>, log: ConnectionLog) {
    /** The store's time when `performance.now()` was 0. */
    let origin = performance.timeOrigin;
    let isWrong = false;
    let isClosed = false;
    const { promise: known, resolve: know } = Promise.withResolvers<void>();
    let next: NodeJS.Timeout | undefined;

    /** How far the clock of this machine is ahead of the store's. */
    const aheadMs = () => Math.ceil(Date.now() - performance.now() - origin);

    /** The store read its clock between request and answer. An origin that agrees with this is kept. */
    async function compare(): Promise<{ tookMs: number }> {
        const asked = performance.now();
        const at = await read();
        const heard = performance.now();
        if (origin < at - heard || origin > at - asked) origin = at - (asked + heard) / 2;
        know();
        const ahead = aheadMs();
        const wasWrong = isWrong;
        isWrong = Math.abs(ahead) >= TOLERATED_MS;
        if (isWrong && !wasWrong) {
            const message = 'the clock of this machine differs from the clock of the queue store: synchronise both with NTP';
            log.warn({ part: 'clock', ahead_ms: ahead }, message);
        }
        if (wasWrong && !isWrong) log.warn({ part: 'clock', ahead_ms: ahead }, 'the clock of this machine is right again');
        return { tookMs: heard - asked };
    }

    function watch(): void {
        compare().then(
            ({ tookMs }) => again(tookMs > ROUGH_MS ? RETRY_MS : COMPARE_MS),
            () => again(RETRY_MS),
        );
    }

    function again(ms: number): void {
        if (!isClosed) next = setTimeout(watch, ms).unref();
    }

    watch();
    return {
        /** Resolves after the first comparison. */
        known,
        /** The time of the store, in milliseconds since the epoch. */
        now: () => Math.round(performance.now() + origin),
        aheadMs,
        /** Converts the times of a job to the store's clock, for other processes, or back to the clock of this machine. */
        jobToStore: (job: FetchJob) => shiftJob(job, -aheadMs()),
        jobFromStore: (job: FetchJob) => shiftJob(job, aheadMs()),
        outcomeToStore: (outcome: FetchOutcome) => shiftOutcome(outcome, -aheadMs()),
        outcomeFromStore: (outcome: FetchOutcome) => shiftOutcome(outcome, aheadMs()),
        /** Compares the clocks now. Rejects when the store is unreachable. */
        compare,
        close(): void {
            isClosed = true;
            clearTimeout(next);
        },
    };
}

function shiftJob(job: FetchJob, ms: number): FetchJob {
    return { ...job, deadlineAt: job.deadlineAt + ms, admittedAt: job.admittedAt + ms };
}

function shiftOutcome(outcome: FetchOutcome, ms: number): FetchOutcome {
    return outcome.startedAt === undefined ? outcome : { ...outcome, startedAt: outcome.startedAt + ms };
}
