import type { FetchJob } from '../../domain/fetch/call.ts';

/** The content of a queued job: the call, and the reply channel of the process that waits for its outcome. */
export interface Envelope {
    job: FetchJob;
    replyTo: string;
    /** Trace context of the caller; absent without tracing. */
    trace?: string;
}

/** A worker's answer: the id of the job, and the outcome in the format of `writeReport`. */
export interface Reply {
    id: string;
    body: string;
}

export const JOB_STATES = ['waiting', 'prioritized', 'active', 'delayed'] as const;

/** A job as operators see it, without params. */
export interface QueuedJob {
    /** `prioritized`: a verification run, which waits behind all plain jobs. */
    state: (typeof JOB_STATES)[number];
    site: string;
    /** When it was added, milliseconds since the epoch. */
    since: number;
}

/** Callbacks of the reply channel. */
export interface ReplyListener {
    onReply(reply: Reply): void;
    /**
     * Replies or jobs may be lost, after a reconnect or a flushed store. Looks up which open jobs are missing from the queue. The channel
     * then delivers all stored replies and calls the returned function: jobs that are still open and missing are lost. The order
     * matters, because a worker replies before its job leaves the queue.
     */
    onDoubt(): Promise<() => void>;
}

/** Receives replies; one for each process that waits for outcomes. */
export interface ReplyChannel {
    /** The address that workers reply to. */
    name: string;
    close(): Promise<void>;
}

/** The producer's side of the queue, over Redis or PostgreSQL. Every method fails fast when the store is down. */
export interface ProducerBackend {
    add(id: string, envelope: Envelope, priority: number | undefined): Promise<void>;
    /** Removes a waiting job; signals workers to abort a running one. */
    cancel(id: string): Promise<void>;
    /** Returns those of `ids` that are still in the queue, waiting or running. */
    surviving(ids: string[]): Promise<Set<string>>;
    counts(): Promise<{ waiting: number; active: number; delayed: number }>;
    /** The oldest jobs, at most `most` of each state. */
    peek(most: number): Promise<QueuedJob[]>;
    /** When the oldest waiting job was added, milliseconds since the epoch. */
    oldestWaitingSince(): Promise<number | undefined>;
    ping(): Promise<void>;
    openReplies(listener: ReplyListener): ReplyChannel;
    close(): Promise<void>;
}

/** The worker's side of the queue. Waits for its store without a limit. */
export interface WorkerBackend {
    /** Stores the reply and wakes its reader. */
    reply(replyTo: string, reply: Reply): Promise<void>;
    /** Calls back with the ids of jobs whose callers are gone. */
    onCancel(listener: (id: string) => void): void;
    /** Opens BullMQ's worker on this store. It starts with `run()`. */
    openWorker(process: (id: string, envelope: Envelope) => Promise<void>, options: { concurrency: number }): BullWorker;
    close(): Promise<void>;
}

/** The part of a BullMQ worker that both stores share. */
export interface BullWorker {
    run(): void;
    /** Takes no more jobs, and resolves when the running ones are finished. */
    pause(): Promise<void>;
    close(): Promise<void>;
    /** `performance.now()` of the loop's last sign of progress. */
    lastProgressAt(): number;
    onStalled(listener: (id: string, envelope: Envelope) => void): void;
    onLockLost(listener: (ids: string[]) => void): void;
}

export const QUEUE_NAME = 'fetch';

/** Life of replies and their channels: a little more than the longest deadline (120 s). */
export const REPLY_TTL_S = 150;

/** Replies in one batch. An outcome may have 10 MiB. */
export const REPLY_BATCH = 16;

/** Skips jobs that ended during the read, which BullMQ returns as undefined. */
export function toQueuedJobs(
    state: QueuedJob['state'],
    jobs: readonly ({ data?: Partial<Envelope>; timestamp: number } | undefined)[],
): QueuedJob[] {
    return jobs.flatMap((found) => {
        const site = found?.data?.job?.site;
        return found === undefined || site === undefined ? [] : [{ state, site, since: found.timestamp }];
    });
}
