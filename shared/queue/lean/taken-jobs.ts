import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis, Result } from 'ioredis';
import type { LeanKeys } from './keys.ts';
import { GIVE_BACK_SCRIPT, GIVE_BACK_UNHEARD_SCRIPT, SCRIPT_BATCH, TAKE_SCRIPT } from './scripts.ts';

type Arguments = (string | number)[];

export type TakenJob = [id: string, data: string, timestamp: string, priority: string, deferredFailure: string | null];

declare module 'ioredis' {
    interface RedisCommander<Context> {
        jobsTake(...args: Arguments): Result<TakenJob[], Context>;
        jobsGiveBack(...args: Arguments): Result<number, Context>;
        jobsGiveBackUnheard(...args: Arguments): Result<number, Context>;
    }
}

const GIVE_BACK_MS = 500;

/**
 * The jobs that a worker has locked: taken by scripts that take many at once, and kept here until somebody works on them. Those whose
 * answer got lost with a connection are put back, for whoever asks next.
 */
export interface TakenJobs {
    /** Whether anything is taken at the moment. */
    mayTake(): boolean;
    /** Asks for as many jobs as there are slots free. */
    ask(connection: Redis): Promise<void>;
    /** Keeps what a question brings, and resolves with how many; undefined where a connection was lost since it was asked. */
    keep(question: Promise<TakenJob[]>): Promise<number | undefined>;
    /** The next one to work on. */
    next(): TakenJob | undefined;
    /** Whether one is here that nobody works on yet. */
    isAnyReady(): boolean;
    holds(id: string): boolean;
    /** More than there are slots. */
    isOverfull(): boolean;
    /** It is not ours any more. @returns whether it was */
    drop(id: string): boolean;
    /** Whether the last question brought fewer than it asked for, and nothing has happened since. */
    isLineEmpty(): boolean;
    /** Somebody may have joined the line. */
    forgetLine(): void;
    /** Ends when what a lost connection may have taken is put back; undefined where nothing is to be. */
    reclaiming(): Promise<void> | undefined;
    /** Watches over a connection that asks. */
    watchOver(connection: Redis): void;
    /** From now on nothing is taken. */
    stop(): void;
    isStopped(): boolean;
    /** Puts back what nobody works on. */
    giveBackReady(): Promise<void>;
    /** The same, and what was taken by a question whose answer never came. */
    giveBackUnheard(): Promise<void>;
}

/**
 * Nothing is taken yet.
 * @param redis gives back, and asks where nobody says otherwise
 * @param concurrency slots of this worker
 */
export function openTakenJobs(redis: Redis, keys: LeanKeys, concurrency: number): TakenJobs {
    redis.defineCommand('jobsGiveBack', { numberOfKeys: 3, lua: GIVE_BACK_SCRIPT });
    redis.defineCommand('jobsGiveBackUnheard', { numberOfKeys: 3, lua: GIVE_BACK_UNHEARD_SCRIPT });
    const { lines, base, token } = keys;
    /** Not handed to the worker yet. */
    const ready: TakenJob[] = [];
    /** Not finished yet; those in `ready` among them. */
    const held = new Set<string>();
    /** Under way to Redis. */
    const questions = new Set<Promise<void>>();
    let isLineEmpty = false;
    let isStopped = false;
    /** What a lost connection may have taken is being put back; until then nothing is taken. */
    let reclaiming: Promise<void> | undefined;
    let isReclaimDue = false;
    /** How often that was done: what an older question brings was put back, or has to be. */
    let reclaimed = 0;
    watchOver(redis);

    /** An answer that is lost with its connection may have taken jobs. */
    function watchOver(connection: Redis): void {
        connection.defineCommand('jobsTake', { numberOfKeys: 5, lua: TAKE_SCRIPT });
        connection.on('close', reclaim);
    }

    function mayTake(): boolean {
        return !isStopped && reclaiming === undefined;
    }

    async function keep(question: Promise<TakenJob[]>): Promise<number | undefined> {
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
        isLineEmpty = false;
    }

    return {
        mayTake,
        keep,
        watchOver,
        async ask(connection) {
            const wanted = Math.max(1, Math.min(SCRIPT_BATCH, concurrency - held.size));
            const taken = await keep(connection.jobsTake(...keys.take, ...keys.lock, wanted));
            isLineEmpty = taken !== undefined && taken < wanted;
        },
        next: () => ready.shift(),
        isAnyReady: () => ready.length > 0,
        holds: (id) => held.has(id),
        isOverfull: () => held.size > concurrency,
        drop: (id) => held.delete(id),
        isLineEmpty: () => isLineEmpty,
        forgetLine() {
            isLineEmpty = false;
        },
        reclaiming: () => reclaiming,
        stop() {
            isStopped = true;
        },
        isStopped: () => isStopped,
        async giveBackReady() {
            const ids = ready.splice(0).map(([id]) => id);
            for (const id of ids) held.delete(id);
            await atBest(redis.jobsGiveBack(...lines, base, token, ...ids));
        },
        async giveBackUnheard() {
            const giveBack = async () => {
                // What these bring is known then.
                await Promise.all(questions);
                for (const [id] of ready.splice(0)) held.delete(id);
                await redis.jobsGiveBackUnheard(...lines, base, token, ...held);
            };
            await atBest(giveBack());
        },
    };
}

/** Without Redis nobody waits for it, and the locks run out. */
async function atBest(given: Promise<unknown>): Promise<void> {
    await Promise.race([given.catch(() => undefined), sleep(GIVE_BACK_MS, undefined, { ref: false })]);
}
