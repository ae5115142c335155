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
    /** Of one task, from the moment its thread begins. */
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
            // The answer may be waiting already when this process was too busy to look: one more turn of the loop takes it.
            thread.timer = setTimeout(() => setImmediate(() => thread.job === job && end(thread)), taskMs);
            thread.worker.postMessage(job.task, job.moved);
        }
        const starting = [...threads].filter(({ isReady }) => !isReady).length;
        if (waiting.length > starting && threads.size < max) start();
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
