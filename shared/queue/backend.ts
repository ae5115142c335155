import type { FetchJob } from '../domain/fetch.ts';

/** What a queued job carries: the call, and the channel of the process that waits for its outcome. */
export interface Envelope {
    job: FetchJob;
    replyTo: string;
    /** What continues the caller's trace in the worker; absent where nothing is traced. */
    trace?: string;
}

/** One answer from a worker: the id of the job it is for, and the outcome as `writeReport` puts it. */
export interface Reply {
    id: string;
    body: string;
}

export const JOB_STATES = ['waiting', 'prioritized', 'active', 'delayed'] as const;

/** A job as an operator may see it: never with params. */
export interface QueuedJob {
    /** `prioritized` waits behind all plain ones: a verification run. */
    state: (typeof JOB_STATES)[number];
    site: string;
    /** When it was added, milliseconds since the epoch. */
    since: number;
}

/** What the reply channel tells the waiting side. */
export interface ReplyListener {
    onReply(reply: Reply): void;
    /**
     * Something may have been lost (a reconnect, an emptied store): looks up which open jobs are missing from the queue. The channel
     * then delivers every reply that is there, and calls what this resolved with: whoever is still open and missing was lost. In this
     * order, since a worker replies before its job leaves the queue.
     */
    onDoubt(): Promise<() => void>;
}

/** The reading end: one for each process that waits for outcomes. */
export interface ReplyChannel {
    /** What workers send to. */
    name: string;
    close(): Promise<void>;
}

/** The waiting side of a topology: Redis or PostgreSQL. Every method fails fast when the store is down. */
export interface ProducerBackend {
    add(id: string, envelope: Envelope, priority: number | undefined): Promise<void>;
    /** Takes a waiting job out and tells the workers to abort a running one. */
    cancel(id: string): Promise<void>;
    /** Those of `ids` that are still in the queue, waiting or running. */
    surviving(ids: string[]): Promise<Set<string>>;
    counts(): Promise<{ waiting: number; active: number; delayed: number }>;
    /** Jobs of each state, those that came first, at most so many of each. */
    peek(most: number): Promise<QueuedJob[]>;
    /** When the job that waits longest was added, milliseconds since the epoch. */
    oldestWaitingSince(): Promise<number | undefined>;
    ping(): Promise<void>;
    openReplies(listener: ReplyListener): ReplyChannel;
    close(): Promise<void>;
}

/** The working side of a topology. Waits for its store as long as it takes. */
export interface WorkerBackend {
    /** Stores the answer and wakes the reader. */
    reply(replyTo: string, reply: Reply): Promise<void>;
    /** Calls back with the ids of jobs whose callers are gone. */
    onCancel(listener: (id: string) => void): void;
    /** Opens BullMQ's worker on this store; it does not run before `run()`. */
    openWorker(process: (id: string, envelope: Envelope) => Promise<void>, options: { concurrency: number }): BullWorker;
    close(): Promise<void>;
}

/** The part of a BullMQ worker that both stores share. */
export interface BullWorker {
    run(): void;
    /** Stops taking jobs and resolves when the running ones are finished. */
    pause(): Promise<void>;
    close(): Promise<void>;
    /** `performance.now()` of the last time the loop was seen to go round. */
    lastProgressAt(): number;
    onStalled(listener: (id: string, envelope: Envelope) => void): void;
    onLockLost(listener: (ids: string[]) => void): void;
}

export const QUEUE_NAME = 'fetch';

/** Replies and their channels outlive the longest deadline (120 s), and not much more. */
export const REPLY_TTL_S = 150;

/** A batch holds at most so many replies: an outcome may have 10 MiB. */
export const REPLY_BATCH = 16;

/** Jobs may end while they are read; BullMQ then answers with holes. */
export function toQueuedJobs(
    state: QueuedJob['state'],
    jobs: readonly ({ data?: Partial<Envelope>; timestamp: number } | undefined)[],
): QueuedJob[] {
    return jobs.flatMap((found) => {
        const site = found?.data?.job?.site;
        return found === undefined || site === undefined ? [] : [{ state, site, since: found.timestamp }];
    });
}
