import { type ConnectionLog, watchConnection } from '../shared/platform/connection-log.ts';

/** Work in the background. */
export interface Repeated {
    /** Begins nothing more, and resolves when everything that runs has ended. */
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
 * The same for work on the database: where it fails, the log tells that the connection is lost, and once it does not, that it is back.
 * @param part name of the work in the log
 * @param work ends soon after `isStopped()` is true
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
    most: number;
    /** Takes the next due item, so that no other process does. */
    take(): Promise<Item | undefined>;
    /** An item that fails is logged; its row makes it due again. */
    run(item: NoInfer<Item>): Promise<unknown>;
    /** Fields for the log line of a failed item. */
    about(item: NoInfer<Item>): Readonly<Record<string, string>>;
}

/** Takes due items and runs them in parallel, in every process that may. */
export function repeatDue<Item>(log: ConnectionLog, { part, lookMs, most, take, run, about }: DueWork<Item>): Repeated {
    const running = new Set<Promise<unknown>>();
    const begin = (item: Item) => {
        const done = run(item)
            .catch((error: unknown) => log.warn({ part, ...about(item), err: error }, `${part}: a run failed; it will be repeated`))
            .finally(() => running.delete(done));
        running.add(done);
    };
    const looks = repeatOnDatabase(log, { part, everyMs: lookMs }, async (isStopped) => {
        while (!isStopped()) {
            if (running.size >= most) await Promise.race(running);
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
