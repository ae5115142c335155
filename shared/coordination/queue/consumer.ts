import { setTimeout as sleep } from 'node:timers/promises';
import type { FetchFailure, FetchJob, FetchOutcome } from '../../domain/fetch/fetch-job.ts';
import type { ConnectionLog } from '../../platform/connection-log.ts';
import { once } from '../../platform/once.ts';
import { pollUntil } from '../../platform/poll-until.ts';
import { type BullWorker, type Envelope, REPORT_GRACE_MS, type WorkerBackend } from './backend.ts';
import { RETRY_MS } from './bull-options.ts';
import { writeReport } from './report.ts';
import type { StoreClock } from './store-clock.ts';

/** How long a stopping worker without running jobs waits for a store that does not answer. */
const CUT_MS = 1000;
const LOOKS = { everyMs: 20, maxMs: Number.POSITIVE_INFINITY };

/** Number of cancellations that are remembered for jobs that this worker has taken but not started. */
const CANCELLED_KEPT = 1000;

/** Processes a job. @param afterwards registers a function to call after the outcome is delivered or abandoned */
export type Handler = (
    job: FetchJob,
    signal: AbortSignal,
    trace: string | undefined,
    afterwards: (act: () => void) => void,
) => Promise<FetchOutcome>;

export type Consumer = ReturnType<typeof openConsumer>;

interface ConsumerOptions {
    backend: WorkerBackend;
    clock: Pick<StoreClock, 'jobFromStore' | 'outcomeToStore' | 'known'>;
    handler: Handler;
    concurrency: number;
    /** Called for each job whose worker died, before its caller receives the answer. */
    onDeath?: ((job: FetchJob) => Promise<void>) | undefined;
    log: ConnectionLog;
}

/** Consumes the queue: takes jobs, runs the handler, replies, and then removes the job. */
export function openConsumer({ backend, clock, handler, concurrency, onDeath, log }: ConsumerOptions) {
    const running = new Map<string, AbortController>();
    const cancelled = new Set<string>();
    const reply = (id: string, envelope: Envelope, report: FetchOutcome) => replyInTime({ backend, clock, log }, id, envelope, report);
    const worker = backend.openWorker(work, { concurrency });
    backend.onCancel((id) => {
        remember(cancelled, id);
        running.get(id)?.abort(new Error('the caller is gone'));
    });
    worker.onLockLost((ids) => {
        for (const id of ids) running.get(id)?.abort(new Error('the queue failed this job'));
    });
    // The worker that detects the death of another worker answers the callers of that worker's jobs.
    worker.onStalled((id, envelope) => {
        log.warn({ part: 'queue', operation: envelope.job.operation }, 'a worker died or was cut off in the middle of a job');
        const answer = () => reply(id, envelope, { ok: false, code: 'DEADLINE_EXCEEDED', lost: 'worker' });
        void (onDeath === undefined ? answer() : onDeath(clock.jobFromStore(envelope.job)).then(answer, answer));
    });
    let state: 'waiting' | 'running' | 'stopped' = 'waiting';
    // Before the clocks are compared, the deadline of every job could look past.
    void clock.known.then(() => {
        if (state === 'stopped') return;
        state = 'running';
        worker.run();
    });
    // The opener and the queue both close a consumer.
    const pausing = once(() => {
        state = 'stopped';
        return pause(worker, () => running.size);
    });
    const close = once(async () => {
        const { isCut } = await pausing();
        await worker.close(isCut);
        await backend.close();
    });
    return {
        /** Stops taking jobs. Resolves when all running jobs have replied. */
        async drain() {
            await pausing();
        },
        /** Drains, then closes every connection. */
        close,
        inFlight: () => running.size,
        /** When the loop last made progress, in milliseconds since the epoch, also after a jump of the clock. In a healthy worker at most 3 s ago. */
        lastProgressAt: () => (state === 'waiting' ? Date.now() : Date.now() - (performance.now() - worker.lastProgressAt())),
    };

    /** Replies before the job is removed from the queue. In the opposite order, a crash in between would lose the answer. */
    async function work(id: string, envelope: Envelope): Promise<void> {
        if (cancelled.delete(id)) return;
        const job = clock.jobFromStore(envelope.job);
        if (job.deadlineAt <= Date.now()) return reply(id, envelope, { ok: false, code: 'DEADLINE_EXCEEDED', ranMs: 0 });
        const abort = new AbortController();
        running.set(id, abort);
        const began = performance.now();
        const acts: (() => void)[] = [];
        try {
            const work = handler(job, abort.signal, envelope.trace, (act) => acts.push(act));
            const outcome = await work.catch((error: unknown): FetchFailure => {
                log.error({ part: 'worker', operation: job.operation, err: error }, 'a job failed because of a bug');
                return { ok: false, code: 'INTERNAL' };
            });
            if (!abort.signal.aborted) await reply(id, envelope, { ...outcome, ranMs: Math.round(performance.now() - began) });
        } finally {
            for (const act of acts) act();
            running.delete(id);
            cancelled.delete(id);
        }
    }
}

/** Stops a worker after its running jobs. BullMQ also waits for its last call to the store; CUT_MS limits this wait. */
async function pause(worker: BullWorker, inFlight: () => number): Promise<{ isCut: boolean }> {
    let isPaused = false;
    const paused = worker.pause().finally(() => {
        isPaused = true;
    });
    let busyAt = performance.now();
    const isOver = async () => {
        if (inFlight() > 0) busyAt = performance.now();
        return isPaused || performance.now() - busyAt >= CUT_MS;
    };
    await Promise.race([paused, pollUntil(LOOKS, isOver, Boolean)]);
    return { isCut: !isPaused };
}

/** Retries until the caller's deadline. */
async function replyInTime(
    { backend, clock, log }: Pick<ConsumerOptions, 'backend' | 'clock' | 'log'>,
    id: string,
    { job, replyTo }: Envelope,
    report: FetchOutcome,
): Promise<void> {
    const body = writeReport(clock.outcomeToStore(report));
    for (;;) {
        try {
            return await backend.reply(replyTo, { id, body });
        } catch (error) {
            if (Date.now() > clock.jobFromStore(job).deadlineAt + REPORT_GRACE_MS) {
                log.error({ part: 'queue', operation: job.operation, err: error }, 'an outcome could not be delivered in time');
                return;
            }
            await sleep(RETRY_MS);
        }
    }
}

function remember(ids: Set<string>, id: string): void {
    ids.add(id);
    const [oldest] = ids;
    if (ids.size > CANCELLED_KEPT && oldest !== undefined) ids.delete(oldest);
}
