import { parentPort, Worker } from 'node:worker_threads';
import { getOrMake } from '../domain/get-or-make.ts';
import { lowerThreadPriority, SIDE_THREAD_NICENESS } from './low-priority.ts';

/** The thread could not do its task. */
export class SideThreadFailure extends Error {}

type ThreadMessage = 'ready' | { answer: unknown } | { failed: string };

interface Job {
    task: unknown;
    done(answer: unknown): void;
    fail(error: Error): void;
}

/** A task that takes longer is aborted, together with its thread. */
const TASK_MS = 30_000;
/** An idle thread ends after this time, to free its memory. */
const IDLE_MS = 60_000;
const HEAP_MB = 384;

/**
 * Creates a thread for work that would block the event loop. It starts with the first task and runs one at a time; owners take turns.
 * @param file a module that calls `answerTasks`
 */
export function createSideThread(file: URL) {
    /** Jobs by owner. The owner whose turn is next comes first. */
    const waiting = new Map<string, Job[]>();
    let worker: Worker | undefined;
    let isReady = false;
    let running: Job | undefined;
    let timer: NodeJS.Timeout | undefined;

    function start(): void {
        const made = new Worker(file, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } });
        worker = made;
        isReady = false;
        made.on('message', (message: ThreadMessage) => {
            if (made !== worker) return;
            isReady = true;
            if (message !== 'ready') settle(message);
            next();
        });
        made.on('error', (error) => made === worker && end(new SideThreadFailure('the thread failed', { cause: error })));
        // Runs after the listeners are added, because adding them keeps the process alive.
        made.unref();
    }

    function settle(message: Exclude<ThreadMessage, 'ready'>): void {
        const job = running;
        running = undefined;
        if ('answer' in message) job?.done(message.answer);
        else job?.fail(new SideThreadFailure(message.failed));
    }

    function next(): void {
        clearTimeout(timer);
        if (running !== undefined || !isReady) return;
        running = takeNext();
        if (running === undefined) {
            timer = setTimeout(() => end(), IDLE_MS).unref();
            return;
        }
        timer = setTimeout(() => end(new SideThreadFailure('a task took too long')), TASK_MS).unref();
        worker?.postMessage(running.task);
    }

    function takeNext(): Job | undefined {
        for (const [owner, jobs] of waiting) {
            const job = jobs.shift();
            waiting.delete(owner);
            if (jobs.length > 0) waiting.set(owner, jobs);
            return job;
        }
        return undefined;
    }

    function end(failure?: Error): void {
        clearTimeout(timer);
        const [ended, job] = [worker, running];
        worker = undefined;
        running = undefined;
        isReady = false;
        void ended?.terminate();
        // Fails one task for each failed start. Otherwise a thread that cannot load would restart forever.
        if (failure !== undefined) (job ?? takeNext())?.fail(failure);
        if (waiting.size > 0) start();
    }

    return {
        /**
         * @param owner the tasks of one owner run in order; the queue of one owner does not delay other owners
         * @throws SideThreadFailure if the task was aborted or the thread failed
         */
        run<Answer>(owner: string, task: unknown): Promise<Answer> {
            return new Promise<Answer>((done, fail) => {
                const jobs = getOrMake(waiting, owner, () => []);
                jobs.push({ task, done: done as (answer: unknown) => void, fail });
                if (worker === undefined) start();
                else next();
            });
        },
    };
}

/** Runs in the thread, at a low priority. Answers each task with the result of a function. */
export function answerTasks<Task>(act: (task: Task) => unknown): void {
    lowerThreadPriority(SIDE_THREAD_NICENESS);
    const say = (message: ThreadMessage) => parentPort?.postMessage(message);
    parentPort?.on('message', (task: Task) => {
        try {
            say({ answer: act(task) });
        } catch (error) {
            say({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) });
        }
    });
    say('ready');
}
