import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JobJson } from 'bullmq';
import { openBatch } from '../../platform/batch.ts';
import type { Reply } from './backend.ts';
import { JOB_OPTIONS, RETRY_MS, WORKER_OPTIONS } from './bull-options.ts';

export interface TakenJob {
    id: string;
    /** JSON text. */
    data: string;
    /** When it was added, in milliseconds since the epoch. */
    timestamp: number;
    priority: number;
    /** Why BullMQ must fail it: its last worker stalled. */
    deferredFailure: string | null;
}

/** A finished job. `channel`: the reply channel of its caller; '' if no caller waits. */
export interface Finished extends Reply {
    channel: string;
}

/** What a store does for many jobs in one call. `token` is the lock of this worker's jobs. */
interface JobStore {
    /** Stores the replies of finished jobs, removes those that the token locks, then locks up to `wanted` waiting jobs. */
    turn(token: string, wanted: number, finished: readonly Finished[]): Promise<TakenJob[]>;
    /** Returns the jobs that the token locks to the queue, except those to keep. */
    giveBack(token: string, kept: readonly string[]): Promise<unknown>;
}

interface TakenJobsOptions {
    /** Slots of the worker; 0 for a producer. */
    concurrency: number;
    /** Maximum number of jobs that one call finishes, and that it takes. */
    maxFinished: number;
    maxTaken: number;
    /** Maximum number of concurrent calls that finish jobs. */
    maxInFlight: number;
}

/** Replies with more characters take no jobs in the same call: it may take longer than the locks of these jobs last. */
const LONG_REPLIES = 1024 * 1024;

/** The result of BullMQ's `moveToActive`; empty when there is no job. */
type BullResult = [job: JobJson, id: string, limitMs: number, delayUntil: number] | [];

/**
 * The jobs that a worker has locked. It takes and finishes many of them in one call of the store (decision 8). BullMQ's worker asks for one
 * job at a time. The other jobs of a call stay here until the worker's next request, which follows in the same turn of the event loop.
 */
export class TakenJobs {
    /** When the worker loop last made progress, by `performance.now()`. `isRunning()` is also true for a loop that hangs. */
    progressAt = performance.now();
    readonly token = randomUUID();
    /** Stores the reply of a job. If this worker holds the job, also removes it and takes another job for its slot. */
    readonly finish: (job: Finished) => Promise<unknown>;
    readonly #store: JobStore;
    readonly #options: TakenJobsOptions;
    /** Jobs that this worker locked and has not started. */
    readonly #ready: TakenJob[] = [];
    /** Ids of all jobs that this worker locked and has not finished. */
    readonly #held = new Set<string>();
    /** Calls of the store that have not been answered yet. */
    readonly #turns = new Set<Promise<unknown>>();
    /** Whether the last call returned fewer jobs than requested and no new job has been signalled since. */
    #isQueueEmpty = false;
    #isStopped = false;
    /** Pending while jobs are returned to the queue. No jobs are taken during this time. */
    #givingBack: Promise<void> | undefined;
    #isGiveBackDue = false;

    constructor(store: JobStore, options: TakenJobsOptions) {
        this.#store = store;
        this.#options = options;
        this.finish = openBatch<Finished, unknown>({
            run: async (jobs) => {
                const held = jobs.filter(({ id }) => this.#held.has(id));
                const length = jobs.reduce((sum, { body }) => sum + body.length, 0);
                await this.#turn(this.#mayTake && length <= LONG_REPLIES ? held.length : 0, jobs);
                for (const { id } of held) this.#held.delete(id);
                return jobs;
            },
            maxInFlight: options.maxInFlight,
            maxSize: options.maxFinished,
        }).add;
    }

    async next(): Promise<BullResult> {
        try {
            await this.#givingBack;
            if (this.#ready.length === 0 && !this.#isQueueEmpty && this.#mayTake) {
                const { concurrency, maxTaken } = this.#options;
                const wanted = Math.max(1, Math.min(maxTaken, concurrency - this.#held.size));
                this.#isQueueEmpty = (await this.#turn(wanted)) < wanted;
            } else this.#isQueueEmpty = false;
        } catch (error) {
            // BullMQ's loop retries without a delay after errors that it does not count as a lost connection, such as those of a starting
            // server.
            await sleep(RETRY_MS);
            throw error;
        }
        this.progressAt = performance.now();
        return this.#shift();
    }

    /** Removes a job that ended. If the consumer sent a reply, the job has already been removed. */
    async complete(id: string, isNextWanted: boolean): Promise<{ result: BullResult | undefined; finishedOn: number }> {
        if (this.#held.has(id)) await this.finish({ id, channel: '', body: '' });
        return { result: isNextWanted ? this.#shift() : undefined, finishedOn: Date.now() };
    }

    /** Removes a job that failed. If that fails too, keeps it until its lock has expired: a job that is given back runs again. */
    async fail<Answer>(id: string, remove: () => Promise<Answer>): Promise<Answer> {
        try {
            const answer = await remove();
            this.#held.delete(id);
            return answer;
        } catch (error) {
            setTimeout(() => this.#held.delete(id), 2 * WORKER_OPTIONS.lockDuration).unref();
            throw error;
        }
    }

    /** Whether a job can start without a call of the store. */
    isReady(): boolean {
        return this.#ready.length > 0;
    }

    /** A new job was signalled, or the wait for one is over. */
    woke(): void {
        this.#isQueueEmpty = false;
        this.progressAt = performance.now();
    }

    /**
     * The locks of so many jobs were renewed. While all slots are busy, the loop asks for no job.
     * @returns those of the failed ones that this worker still runs; others ended meanwhile
     */
    renewed(jobs: number, failed: readonly string[]): string[] {
        if (jobs >= this.#options.concurrency) this.progressAt = performance.now();
        return failed.filter((id) => this.#held.has(id));
    }

    stopTaking(): void {
        this.#isStopped = true;
        void this.giveBack();
    }

    isStopped(): boolean {
        return this.#isStopped;
    }

    /** Resolves when no job is being returned to the queue. */
    async givenBack(): Promise<void> {
        await this.#givingBack;
    }

    /** Returns jobs that have not started, and jobs whose answer was lost with a connection, to the queue. */
    giveBack(): Promise<void> {
        this.#isGiveBackDue = true;
        this.#givingBack ??= this.#giveBackNow().finally(() => {
            this.#givingBack = undefined;
            this.#isQueueEmpty = false;
            if (this.#isGiveBackDue) void this.giveBack();
        });
        return this.#givingBack;
    }

    get #mayTake(): boolean {
        return !this.#isStopped && this.#givingBack === undefined;
    }

    /** @returns the number of jobs taken, which are now in `#ready` */
    #turn(wanted: number, finished: readonly Finished[] = []): Promise<number> {
        const turn = this.#store.turn(this.token, wanted, finished).then((jobs) => {
            for (const { id } of jobs) this.#held.add(id);
            this.#ready.push(...jobs);
            return jobs.length;
        });
        this.#turns.add(turn);
        return turn.finally(() => this.#turns.delete(turn));
    }

    #shift(): BullResult {
        const job = this.#ready.shift();
        return job === undefined ? [] : [toBullJob(job), job.id, 0, 0];
    }

    async #giveBackNow(): Promise<void> {
        // During an outage every failed reconnect requests a run. All requests that arrive during one run cause one more run.
        while (this.#isGiveBackDue) {
            this.#isGiveBackDue = false;
            // The jobs in pending answers would be missing from the list of jobs to keep.
            await Promise.allSettled(this.#turns);
            for (const { id } of this.#ready.splice(0)) this.#held.delete(id);
            try {
                await this.#store.giveBack(this.token, [...this.#held]);
            } catch {
                if (this.#isStopped) return;
                this.#isGiveBackDue = true;
                await sleep(RETRY_MS);
            }
        }
    }
}

function toBullJob({ id, data, timestamp, priority, deferredFailure }: TakenJob): JobJson {
    return {
        id,
        name: 'fetch',
        data,
        opts: JOB_OPTIONS,
        progress: 0,
        attemptsMade: 0,
        attemptsStarted: 1,
        timestamp,
        processedOn: Date.now(),
        priority,
        delay: 0,
        failedReason: '',
        stacktrace: '[]',
        returnvalue: 'null',
        stalledCounter: 0,
        ...(deferredFailure === null ? {} : { deferredFailure }),
    };
}
