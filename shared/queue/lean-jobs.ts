import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JobJson, RedisQueueBackend } from 'bullmq';
import type { Redis, Result } from 'ioredis';
import { perTick } from '../per-tick.ts';
import { sendNow } from '../redis.ts';
import { type Envelope, REPLY_TTL_S } from './backend.ts';
import { JOB_OPTIONS, WORKER_OPTIONS } from './bull-worker.ts';
import { ADD_SCRIPT, FINISH_SCRIPT, GIVE_BACK_SCRIPT, GIVE_BACK_UNHEARD_SCRIPT, SCRIPT_BATCH, TAKE_SCRIPT } from './lean-scripts.ts';

type Arguments = (string | number)[];
/** {id, data, timestamp, priority, deferred failure} */
type TakenJob = [id: string, data: string, timestamp: string, priority: string, deferredFailure: string | null];

declare module 'ioredis' {
    interface RedisCommander<Context> {
        jobsAdd(...args: Arguments): Result<number, Context>;
        jobsTake(...args: Arguments): Result<TakenJob[], Context>;
        jobsFinish(...args: Arguments): Result<TakenJob[], Context>;
        jobsGiveBack(...args: Arguments): Result<number, Context>;
        jobsGiveBackUnheard(...args: Arguments): Result<number, Context>;
    }
}

/** BullMQ's names of its keys. */
type ToKey = (type: string) => string;

/** Adds plain jobs, all that are added in one turn of the event loop by one script. */
export function openLeanAdding(redis: Redis, toKey: ToKey, ask: <Answer>(answer: Promise<Answer>) => Promise<Answer>) {
    redis.defineCommand('jobsAdd', { numberOfKeys: 3, lua: ADD_SCRIPT });
    const keys = [toKey('wait'), toKey('marker'), toKey('meta'), toKey('')];
    const options = JSON.stringify(JOB_OPTIONS);
    return perTick(
        async (jobs: readonly { id: string; envelope: Envelope }[]) => {
            const flat = jobs.flatMap(({ id, envelope }) => [id, JSON.stringify(envelope)]);
            const added = redis.jobsAdd(...keys, options, Date.now(), ...flat);
            sendNow(redis);
            await ask(added);
            return jobs;
        },
        { maxRunning: Number.POSITIVE_INFINITY, maxBatch: SCRIPT_BATCH },
    );
}

const GIVE_BACK_MS = 500;
/** So long beyond its time the connection that blocks may take; then the loop asks on its own one. */
const HANGING_MS = 1000;
/** BullMQ opens the blocking connection anew when it is so late, and waits for that without an end. */
const BULL_WATCHDOG_MS = 1000;

export interface LeanJobs {
    /** Stores the answer of a job and lets the job go, where it is still ours. */
    finish(id: string, channel: string, body: string): Promise<void>;
    /** From now on nothing new is taken; what was taken and not started is put back as soon as nothing is waited for any more. */
    stopTaking(): void;
    /** Puts back what this worker has locked and does not work on. */
    giveBack(): Promise<void>;
}

/**
 * Gives BullMQ's worker its jobs by scripts that take and finish many at once. The worker asks for one at a time, so that what was
 * taken beyond the first waits here for its next question, which comes in the same turn. One lock token serves for all jobs of this
 * worker.
 */
export function openLeanJobs(redis: Redis, backend: RedisQueueBackend, concurrency: number): LeanJobs {
    redis.defineCommand('jobsTake', { numberOfKeys: 5, lua: TAKE_SCRIPT });
    redis.defineCommand('jobsFinish', { numberOfKeys: 6, lua: FINISH_SCRIPT });
    redis.defineCommand('jobsGiveBack', { numberOfKeys: 3, lua: GIVE_BACK_SCRIPT });
    redis.defineCommand('jobsGiveBackUnheard', { numberOfKeys: 3, lua: GIVE_BACK_UNHEARD_SCRIPT });
    const { wait, active, prioritized, marker, meta, stalled } = backend.keys as Record<string, string>;
    const takeKeys = [wait, active, prioritized, marker, meta] as string[];
    const lines = [wait, active, marker] as string[];
    const base = backend.toKey('');
    const token = randomUUID();
    const lock = [base, token, WORKER_OPTIONS.lockDuration];
    /** Taken, not handed to the worker yet. */
    const ready: TakenJob[] = [];
    /** Taken, not finished yet; those in `ready` among them. */
    const held = new Set<string>();
    /** Left the queue with its answer, before the worker says that it is done. */
    const finished = new Set<string>();
    /** Under way to Redis. */
    const questions = new Set<Promise<void>>();
    let isKnownEmpty = false;
    let isStopped = false;
    /** A question that stands behind a wait, and is answered with it. */
    let behindWait: Promise<void> | undefined;
    let isWaiting = false;
    /** A wait was given up that is not over yet. */
    let isHanging = false;
    /** What a lost connection may have taken is being put back; until then nothing is taken. */
    let reclaiming: Promise<void> | undefined;
    let isReclaimDue = false;
    /** How often that was done: what an older question brings was put back, or has to be. */
    let reclaimed = 0;
    redis.on('close', reclaim);

    const finish = perTick(
        async (jobs: readonly { id: string; channel: string; body: string }[]) => {
            const flat = jobs.flatMap(({ id, channel, body }) => [id, channel, body]);
            // As many as finish here ask for their next one; those of other workers, whose answers are given too, do not.
            const wanted = mayTake() ? jobs.filter(({ id }) => held.has(id)).length : 0;
            const answer = redis.jobsFinish(...takeKeys, stalled as string, ...lock, wanted, REPLY_TTL_S, ...flat);
            sendNow(redis);
            await take(answer);
            for (const { id } of jobs) if (held.delete(id)) finished.add(id);
            return jobs;
        },
        { maxRunning: Number.POSITIVE_INFINITY, maxBatch: SCRIPT_BATCH },
    );

    backend.moveToActive = async () => {
        // Whoever asks while another one waits learns what is here: the rest comes with the end of the wait, or of a job.
        if (isWaiting) return next();
        await answerBehindWait();
        if (reclaiming !== undefined) await endsWithin(reclaiming, HANGING_MS);
        if (ready.length === 0 && !isKnownEmpty && mayTake()) {
            await ask(redis);
        } else if (ready.length === 0) isKnownEmpty = false;
        return next();
    };
    backend.moveToCompleted = async ({ id = '' }, _value, _remove, _token, isNextWanted) => {
        if (!finished.delete(id)) {
            await finish({ id, channel: '', body: '' });
            finished.delete(id);
        }
        return { result: isNextWanted ? next() : undefined, finishedOn: Date.now() };
    };
    const { disconnectBlocking, extendLocks, moveToFailed, waitForJob } = backend;
    backend.waitForJob = async (timeout) => {
        if (ready.length > 0) return { member: '0', score: 0 };
        const waitMs = timeout * 1000;
        if (isHanging) {
            await sleep(waitMs, undefined, { ref: false });
            isKnownEmpty = false;
            return null;
        }
        isWaiting = true;
        const marker = waitForJob.call(backend, timeout);
        const behind = askBehindWait().finally(() => {
            if (behindWait === behind) behindWait = undefined;
        });
        behindWait = behind;
        try {
            if (await endsWithin(marker, waitMs + BULL_WATCHDOG_MS + HANGING_MS)) return await marker;
            behindWait = undefined;
            isHanging = true;
            void marker
                .catch(() => undefined)
                .then(() => {
                    isHanging = false;
                });
            return null;
        } finally {
            isWaiting = false;
            isKnownEmpty = false;
        }
    };
    backend.disconnectBlocking = async (...args) => {
        await disconnectBlocking.apply(backend, args);
        if (isStopped) await giveBackUnheard();
    };
    backend.extendLocks = (ids, _tokens, duration) => extendLocks.call(backend, ids, Array(ids.length).fill(token), duration);
    backend.moveToFailed = async (job, reason, remove, _token, _isNextWanted, fields) => {
        try {
            // The next one is asked for by our own script: what BullMQ's brings along nobody here would know of.
            return await moveToFailed.call(backend, job, reason, remove, token, false, fields);
        } finally {
            held.delete(job.id ?? '');
        }
    };

    return {
        async finish(id, channel, body) {
            await finish({ id, channel, body });
        },
        stopTaking() {
            isStopped = true;
        },
        giveBack: giveBackUnheard,
    };

    async function giveBackReady(): Promise<void> {
        const ids = ready.splice(0).map(([id]) => id);
        for (const id of ids) held.delete(id);
        await atBest(redis.jobsGiveBack(...lines, base, token, ...ids));
    }

    /** Also what was taken by a question whose answer never came: the connection that blocks is closed while one may be under way. */
    async function giveBackUnheard(): Promise<void> {
        const giveBack = async () => {
            // What these bring is known then.
            await Promise.all(questions);
            for (const [id] of ready.splice(0)) held.delete(id);
            await redis.jobsGiveBackUnheard(...lines, base, token, ...held);
        };
        await atBest(giveBack());
    }

    /** A connection is lost, and maybe with it the answer to a question that took jobs: whatever nobody here heard of is put back. */
    function reclaim(): void {
        if (isStopped) return;
        isReclaimDue = true;
        reclaiming ??= putBack();
    }

    async function putBack(): Promise<void> {
        // In an outage every try to connect ends so: they are one more question, not one each.
        while (isReclaimDue) {
            isReclaimDue = false;
            reclaimed++;
            await redis.jobsGiveBackUnheard(...lines, base, token, ...held).catch(() => undefined);
        }
        reclaiming = undefined;
        isKnownEmpty = false;
    }

    function mayTake(): boolean {
        return !isStopped && reclaiming === undefined;
    }

    /** Remembers a question until it is answered, or never will be. */
    function watch(question: Promise<TakenJob[]>): Promise<TakenJob[]> {
        const settled = question.then(
            () => undefined,
            () => undefined,
        );
        questions.add(settled);
        void settled.then(() => questions.delete(settled));
        return question;
    }

    /** Without Redis nobody waits for it, and the locks run out. */
    async function atBest(given: Promise<unknown>): Promise<void> {
        await Promise.race([given.catch(() => undefined), sleep(GIVE_BACK_MS, undefined, { ref: false })]);
    }

    async function ask(connection: Redis): Promise<void> {
        const wanted = Math.max(1, Math.min(SCRIPT_BATCH, concurrency - held.size));
        const taken = await take(connection.jobsTake(...takeKeys, ...lock, wanted));
        isKnownEmpty = taken !== undefined && taken < wanted;
    }

    /**
     * Sent on the connection that waits, right behind the wait: Redis answers it as soon as the wait is over, which saves a lone job
     * a way to Redis and back. Meanwhile a job that finishes brings at most one in its place, so that no more are held than slots.
     */
    async function askBehindWait(): Promise<void> {
        try {
            const blocking = (await backend.blockingClient) as unknown as Redis | undefined;
            if (blocking === undefined || !mayTake()) return;
            if (blocking.jobsTake === undefined) {
                blocking.defineCommand('jobsTake', { numberOfKeys: 5, lua: TAKE_SCRIPT });
                blocking.on('close', reclaim);
            }
            await ask(blocking);
            // The loop may have given this question up, and filled the slots by another one.
            if (isStopped || held.size > concurrency) await giveBackReady();
        } catch {
            // The loop asks by itself, and learns then what is wrong.
        }
    }

    /** A connection that hangs must not keep the loop from the other one. */
    async function answerBehindWait(): Promise<void> {
        const behind = behindWait;
        if (behind === undefined || (await endsWithin(behind, HANGING_MS))) return;
        if (behindWait === behind) behindWait = undefined;
    }

    /** Resolves with how many jobs a question brought; undefined where a connection was lost since it was asked. */
    async function take(question: Promise<TakenJob[]>): Promise<number | undefined> {
        const askedAt = reclaimed;
        const jobs = await watch(question);
        if (askedAt !== reclaimed) {
            // Put back by now or not, and then maybe taken by a younger question: which one it is, Redis tells apart by what is held here.
            if (jobs.length > 0) reclaim();
            return undefined;
        }
        for (const job of jobs) {
            ready.push(job);
            held.add(job[0]);
        }
        return jobs.length;
    }

    /** As BullMQ's own `moveToActive` answers; empty where there is no job. */
    function next(): [job: JobJson, id: string, limitMs: number, delayUntil: number] | [] {
        const job = ready.shift();
        if (job === undefined) return [];
        const [id, data, timestamp, priority, deferredFailure] = job;
        const json: JobJson = {
            id,
            name: 'fetch',
            data,
            opts: JOB_OPTIONS,
            progress: 0,
            attemptsMade: 0,
            attemptsStarted: 1,
            timestamp: Number(timestamp),
            processedOn: Date.now(),
            priority: Number(priority),
            delay: 0,
            failedReason: '',
            stacktrace: '[]',
            returnvalue: 'null',
            stalledCounter: 0,
            ...(deferredFailure === null ? {} : { deferredFailure }),
        };
        return [json, id, 0, 0];
    }
}

/** Whether it ends in time. @throws what it throws until then */
async function endsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
    const late = Promise.withResolvers<false>();
    const timer = setTimeout(late.resolve, ms, false).unref();
    try {
        return await Promise.race([work.then(() => true), late.promise]);
    } finally {
        clearTimeout(timer);
    }
}
