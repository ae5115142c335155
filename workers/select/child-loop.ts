import { Script } from 'node:vm';

/** Memory growth after which the child collects garbage between two tasks. */
const UNTIDY_BYTES = 16 * 1024 * 1024;

/** A message to the child. `maxMs` ends the task if the parent died; a live parent ends it earlier. */
export interface ToChild<Task> {
    task: Task;
    maxMs: number;
}

/** A message to the parent: the child is idle, or a task ended. `bug` is the stack of an error. */
export type FromChild = { ready: true } | { answer?: unknown; bug?: string; cpuMs: number };

/** Answers the tasks of the parent one by one, and exits with it. The parent kills slow children. @param answer throws only on a bug */
export function answerTasks<Task>(answer: (task: Task) => unknown): void {
    const send = (message: FromChild) => process.send?.(message);
    const base = process.memoryUsage.rss();
    const script = new Script('run()');
    process.on('message', ({ task, maxMs }: ToChild<Task>) => {
        const before = process.cpuUsage();
        const cpuMs = () => {
            const { user, system } = process.cpuUsage(before);
            return (user + system) / 1000;
        };
        const run = () => {
            try {
                send({ answer: answer(task), cpuMs: cpuMs() });
            } catch (error) {
                send({ bug: error instanceof Error ? (error.stack ?? error.message) : String(error), cpuMs: cpuMs() });
            }
        };
        Reflect.set(globalThis, 'run', run);
        script.runInThisContext({ timeout: maxMs });
        Reflect.deleteProperty(globalThis, 'run');
        // In the next iteration nothing references the task and its answer, so they can be collected.
        setImmediate(() => {
            if (process.memoryUsage.rss() > base + UNTIDY_BYTES) globalThis.gc?.();
            send({ ready: true });
        });
    });
    send({ ready: true });
}
