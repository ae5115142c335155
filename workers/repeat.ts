import { type ConnectionLog, watchConnection } from '../shared/platform/connection-log.ts';

/** Work in the background. */
export interface Repeated {
    /** Starts no further work, and resolves when all running work has ended. */
    stop(): Promise<void>;
}

/** Runs `work` every `ms` milliseconds, unless it still runs. @param work never rejects */
export function repeat(ms: number, work: () => Promise<void>): Repeated {
    let running: Promise<void> | undefined;
    const timer = setInterval(() => {
        running ??= work().finally(() => {
            running = undefined;
        });
    }, ms);
    return {
        async stop() {
            clearInterval(timer);
            await running;
        },
    };
}

/**
 * Like `repeat`, for work on the database. Logs when the connection is lost and when it is back.
 * @param part name of the work in the log
 * @param work ends soon after `isStopped()` returns true
 */
export function repeatOnDatabase(
    log: ConnectionLog,
    { part, everyMs }: { part: string; everyMs: number },
    work: (isStopped: () => boolean) => Promise<void>,
): Repeated {
    const status = watchConnection(log, part);
    let hasStopped = false;
    const looks = repeat(everyMs, async () => {
        try {
            await work(() => hasStopped);
            status.up();
        } catch (error) {
            status.down(error);
        }
    });
    return {
        async stop() {
            hasStopped = true;
            await looks.stop();
        },
    };
}

/** Work that waits in the database until it is due. */
interface DueWork<Item> {
    /** Name of the work in the log. */
    part: string;
    /** How often to look for it, in milliseconds. */
    lookMs: number;
    /** Items that run at once. */
    concurrency: number;
    /** Claims the next due item for this process. */
    take(): Promise<Item | undefined>;
    /** A failure is logged; the item's row makes it due again. */
    run(item: NoInfer<Item>): Promise<unknown>;
    /** Fields for the log line of a failed item. */
    about(item: NoInfer<Item>): Readonly<Record<string, string>>;
}

/** Takes due items and runs them in parallel. Several processes may do this. */
export function repeatDue<Item>(log: ConnectionLog, { part, lookMs, concurrency, take, run, about }: DueWork<Item>): Repeated {
    const running = new Set<Promise<unknown>>();
    const begin = (item: Item) => {
        const done = run(item)
            .catch((error: unknown) => log.warn({ part, ...about(item), err: error }, `${part}: a run failed; it will be repeated`))
            .finally(() => running.delete(done));
        running.add(done);
    };
    const looks = repeatOnDatabase(log, { part, everyMs: lookMs }, async (isStopped) => {
        while (!isStopped()) {
            if (running.size >= concurrency) await Promise.race(running);
            else {
                const item = await take();
                if (item === undefined) break;
                begin(item);
            }
        }
    });
    return {
        async stop() {
            await looks.stop();
            await Promise.all(running);
        },
    };
}
