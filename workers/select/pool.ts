import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

/** Runs tasks in threads, one at a time each, and puts an end to what takes too long or too much memory. */
export interface ThreadPool<Task, Answer> {
    /**
     * `overrun`: the thread was ended, by its time or by its memory. Rejects only when the pool is closed or the thread's code breaks.
     * @param moved buffers that go over to the thread instead of being copied
     */
    run(task: Task, moved?: readonly ArrayBuffer[]): Promise<Answer | 'overrun'>;
    close(): Promise<void>;
}

export interface PoolLimits {
    threads: number;
    /** Of one task, in milliseconds of CPU: on a busy machine a thread may wait for a core for longer than it works. */
    taskMs: number;
    heapMb: number;
}

interface Job<Task, Answer> {
    task: Task;
    moved: readonly ArrayBuffer[];
    done(answer: Answer | 'overrun'): void;
    fail(error: Error): void;
}

interface Thread<Task, Answer> {
    worker: Worker;
    isReady: boolean;
    job: Job<Task, Answer> | undefined;
    timer: NodeJS.Timeout | undefined;
}

/** A task that does not come to an end within so many times its time is given up, whatever it waits for. */
const LONGEST = 10;
/** How soon a thread is looked at again that used nearly all of its time. */
const SOON_MS = 10;

/**
 * Threads are started when there is work for them and stay. A thread says `ready` once it is loaded, then answers each message with
 * one message; only from then on does a task's time run.
 */
export function openThreadPool<Task, Answer>(file: URL, { threads: max, taskMs, heapMb }: PoolLimits): ThreadPool<Task, Answer> {
    const threads = new Set<Thread<Task, Answer>>();
    const waiting: Job<Task, Answer>[] = [];
    let isClosed = false;

    function dispatch(): void {
        for (const thread of threads) {
            if (!thread.isReady || thread.job !== undefined) continue;
            const job = waiting.shift();
            if (job === undefined) return;
            thread.job = job;
            watch(thread, job);
            thread.worker.postMessage(job.task, job.moved);
        }
        const starting = [...threads].filter(({ isReady }) => !isReady).length;
        if (waiting.length > starting && threads.size < max) start();
    }

    /** Ends the thread once it has worked at this job for too long. */
    function watch(thread: Thread<Task, Answer>, job: Job<Task, Answer>): void {
        const begun = performance.now();
        const usedMs = clockOf(thread.worker);
        const look = async () => {
            // The answer may be waiting already when this process was too busy to look: one more turn of the loop takes it.
            await nextTurn();
            const wallMs = performance.now() - begun;
            const longest = LONGEST * taskMs;
            const giveUp = setTimeout(() => thread.job === job && end(thread), Math.max(0, longest - wallMs));
            const used = thread.job === job ? await usedMs().catch(() => wallMs) : 0;
            clearTimeout(giveUp);
            if (thread.job !== job) return;
            if (used >= taskMs || wallMs >= longest) end(thread);
            else thread.timer = setTimeout(look, Math.max(SOON_MS, taskMs - used));
        };
        thread.timer = setTimeout(look, taskMs);
    }

    function start(): void {
        const limits = { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 16 };
        const thread: Thread<Task, Answer> = {
            worker: new Worker(file, { resourceLimits: limits }),
            isReady: false,
            job: undefined,
            timer: undefined,
        };
        threads.add(thread);
        thread.worker.unref();
        thread.worker.on('message', (message: Answer | 'ready') => {
            if (message === 'ready') thread.isReady = true;
            else release(thread)?.done(message as Answer);
            dispatch();
        });
        thread.worker.on('error', (error: Error) => {
            const isOutOfMemory = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
            const job = remove(thread);
            if (isOutOfMemory) job?.done('overrun');
            else (job ?? waiting.shift())?.fail(error);
            if (!isClosed) dispatch();
        });
    }

    function release(thread: Thread<Task, Answer>): Job<Task, Answer> | undefined {
        const { job } = thread;
        clearTimeout(thread.timer);
        thread.job = undefined;
        return job;
    }

    function remove(thread: Thread<Task, Answer>): Job<Task, Answer> | undefined {
        threads.delete(thread);
        return release(thread);
    }

    function end(thread: Thread<Task, Answer>): void {
        remove(thread)?.done('overrun');
        void thread.worker.terminate();
        // A new one is loaded before the next task asks for it.
        if (threads.size === 0) start();
        dispatch();
    }

    return {
        run(task, moved = []) {
            if (isClosed) return Promise.reject(new Error('the pool is closed'));
            return new Promise((done, fail) => {
                waiting.push({ task, moved, done, fail });
                dispatch();
            });
        },
        async close() {
            isClosed = true;
            const closed = new Error('the pool is closed');
            for (const job of waiting.splice(0)) job.fail(closed);
            await Promise.all(
                [...threads].map((thread) => {
                    remove(thread)?.fail(closed);
                    return thread.worker.terminate();
                }),
            );
        },
    };
}

/** Milliseconds of CPU that a thread has used since, or of time where Node cannot tell (before 24.6). */
function clockOf(worker: Worker): () => Promise<number> {
    const begun = performance.now();
    const { cpuUsage } = worker as Partial<Pick<Worker, 'cpuUsage'>>;
    if (cpuUsage === undefined) return async () => performance.now() - begun;
    const before = cpuUsage.call(worker);
    // Whoever asks learns that it failed.
    before.catch(() => {});
    return async () => {
        const { user, system } = await cpuUsage.call(worker, await before);
        return (user + system) / 1000;
    };
}
