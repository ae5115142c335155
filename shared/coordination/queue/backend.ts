import type { FetchJob } from '../../domain/fetch/fetch-job.ts';

/** The content of a queued job: the call, with its times by the store's clock, and the reply channel of the waiting process. */
export interface Envelope {
    job: FetchJob;
    replyTo: string;
    /** Trace context of the caller; absent without tracing. */
    trace?: string | undefined;
}

/** A worker's answer: the id of the job, and the outcome in the format of `writeReport`. */
export interface Reply {
    id: string;
    body: string;
}

export const JOB_STATES = ['waiting', 'prioritized', 'active', 'delayed'] as const;

/** A queued job without its params, for operators. */
export interface QueuedJob {
    /** `prioritized`: a verification run. It runs after all plain jobs. */
    state: (typeof JOB_STATES)[number];
    site: string;
    /** When the job was added, in milliseconds since the epoch. */
    since: number;
}

export interface ReplyListener {
    onReply(reply: Reply): void;
    /**
     * Replies or jobs may have been lost, because of a reconnect or a flushed store. Finds the open jobs that are missing from the queue.
     * The channel then delivers all stored replies and calls the returned function, which declares those jobs lost that are still open.
     * This order matters, because a worker replies before it removes the job from the queue.
     */
    onDoubt(): Promise<() => void>;
}

/** Receives replies. Each process that waits for outcomes has one channel. */
export interface ReplyChannel {
    /** The address to which workers reply. */
    name: string;
    close(): Promise<void>;
}

/** The producer's side of the queue, over Redis or PostgreSQL. Every method fails fast when the store is unreachable. */
export interface ProducerBackend {
    add(id: string, envelope: Envelope, priority: number | undefined): Promise<void>;
    /** Removes a waiting job. For a running job, signals the workers to abort it. */
    cancel(id: string): Promise<void>;
    /** Returns those of `ids` whose job is still in the queue, waiting or running. */
    surviving(ids: string[]): Promise<Set<string>>;
    counts(): Promise<{ waiting: number; active: number; delayed: number }>;
    /** The oldest jobs, at most `limit` for each state. */
    peek(limit: number): Promise<QueuedJob[]>;
    /** When the oldest waiting job was added, by the store's clock in milliseconds since the epoch. */
    oldestWaitingSince(): Promise<number | undefined>;
    /** The time of the store, in milliseconds since the epoch. */
    time(): Promise<number>;
    openReplies(listener: ReplyListener): ReplyChannel;
    close(): Promise<void>;
}

/** The worker's side of the queue. It waits for its store without a timeout. */
export interface WorkerBackend {
    /** Stores the reply and wakes the waiting process. */
    reply(replyTo: string, reply: Reply): Promise<void>;
    /** Calls the listener with the id of each job whose caller has disconnected. */
    onCancel(listener: (id: string) => void): void;
    /** Opens the BullMQ worker of this store. The worker starts with `run()`. */
    openWorker(process: (id: string, envelope: Envelope) => Promise<void>, options: { concurrency: number }): BullWorker;
    close(): Promise<void>;
}

/** The part of a BullMQ worker that both stores share. */
export interface BullWorker {
    run(): void;
    /** Stops taking jobs. Resolves when the running jobs are finished. */
    pause(): Promise<void>;
    /** @param isCut whether the store does not answer; then nothing is waited for */
    close(isCut: boolean): Promise<void>;
    /** When the loop last made progress, by `performance.now()`. */
    lastProgressAt(): number;
    onStalled(listener: (id: string, envelope: Envelope) => void): void;
    onLockLost(listener: (ids: string[]) => void): void;
}

export const QUEUE_NAME = 'fetch';

/** How long after the deadline a worker may report (docs/api.md, "Hosted fetch"). */
export const REPORT_GRACE_MS = 200;

/** Lifetime of replies and their channels: a little more than the longest deadline (120 s). */
export const REPLY_TTL_S = 150;

/** Maximum number of replies in one batch. An outcome may have 10 MiB. */
export const REPLY_BATCH = 16;

/** Skips jobs that ended during the read. BullMQ returns these as undefined. */
export function toQueuedJobs(
    state: QueuedJob['state'],
    jobs: readonly ({ data?: Partial<Envelope>; timestamp: number } | undefined)[],
): QueuedJob[] {
    return jobs.flatMap((found) => {
        const site = found?.data?.job?.site;
        return found === undefined || site === undefined ? [] : [{ state, site, since: found.timestamp }];
    });
}
