import { type ConnectionLog, watchConnection } from '../shared/platform/connection-log.ts';
import type { Db } from '../shared/platform/db.ts';
import { isOutage } from '../shared/platform/pg-errors.ts';

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

/** Work that stops together. */
export function together(works: readonly Repeated[]): Repeated {
    return { stop: async () => void (await Promise.all(works.map((one) => one.stop()))) };
}

/** Creates a function that returns true at most once per `ms` milliseconds. */
export function every(ms: number): () => boolean {
    let at = Number.NEGATIVE_INFINITY;
    return () => {
        if (performance.now() - at < ms) return false;
        at = performance.now();
        return true;
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
    const runs = repeat(everyMs, async () => {
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
            await runs.stop();
        },
    };
}

/** How often a worker asks the database for due work. */
const POLL_MS = 200;

/** A kind of work that waits in the database until it is due. */
interface DueKind {
    /** Name of the work in the log. */
    part: string;
    /** SQL, inserted as it is: a query for one value, true if work is due. It runs at every poll, so it must find its row by an index. */
    due: string;
    /** Ends soon after `isStopped()` returns true. */
    work(isStopped: () => boolean): Promise<unknown>;
}

/** Polls the database for due work of several kinds. Stop the kinds first. */
export interface DuePoller extends Repeated {
    readonly log: ConnectionLog;
    /** Starts `work` whenever it is due and does not run yet. */
    add(kind: DueKind): Repeated;
}

interface Kind extends Pick<DueKind, 'due'> {
    running?: Promise<void> | undefined;
    start(): void;
    /** Logs that the query of this kind failed. */
    down(error: unknown): void;
}

/** One statement asks for all kinds that do not run (decision 30). It is not prepared: a plan made for empty tables would be kept. */
export function openDuePoller({ db, log }: { db: Db; log: ConnectionLog }, everyMs = POLL_MS): DuePoller {
    const status = watchConnection(log, 'due work');
    const kinds = new Set<Kind>();
    const poll = async (asked: readonly Kind[]) => {
        const { rows } = await db.raw<{ rows: [Record<number, true | null>] }>(
            `select ${asked.map(({ due }, place) => `(${due}) as "${place}"`).join(', ')}`,
        );
        for (const [place, { start }] of asked.entries()) if (rows[0][place] === true) start();
    };
    const polls = repeat(everyMs, async () => {
        const asked = [...kinds].filter(({ running }) => running === undefined);
        try {
            await poll(asked);
            status.up();
        } catch (error) {
            if (isOutage(error)) return status.down(error);
            // The query of one kind fails. Each kind is asked for alone, so that it holds up no other.
            for (const kind of asked) await poll([kind]).catch(kind.down);
        }
    });
    return {
        log,
        stop: polls.stop,
        add({ part, due, work }) {
            const ofWork = watchConnection(log, part);
            const isStopped = () => !kinds.has(kind);
            const kind: Kind = {
                due,
                down: ofWork.down,
                start() {
                    if (isStopped()) return;
                    kind.running = work(isStopped)
                        .then(ofWork.up, ofWork.down)
                        .finally(() => {
                            kind.running = undefined;
                        });
                },
            };
            kinds.add(kind);
            return {
                async stop() {
                    kinds.delete(kind);
                    await kind.running;
                },
            };
        },
    };
}

/** Items that wait in the database until they are due. */
interface DueItems<Item> extends Omit<DueKind, 'work'> {
    concurrency: number;
    /** Claims the next due item for this process. */
    take(): Promise<Item | undefined>;
    /** A failure is logged; the item's row makes it due again. */
    run(item: NoInfer<Item>): Promise<unknown>;
    /** Fields for the log line of a failed item. */
    about(item: NoInfer<Item>): Readonly<Record<string, string>>;
}

/** Takes due items and runs them in parallel. Several processes may do this. */
export function runDue<Item>(poller: DuePoller, { part, due, concurrency, take, run, about }: DueItems<Item>): Repeated {
    const running = new Set<Promise<unknown>>();
    const begin = (item: Item) => {
        const done = run(item)
            .catch((error: unknown) => poller.log.warn({ part, ...about(item), err: error }, `${part}: a run failed and will be retried`))
            .finally(() => running.delete(done));
        running.add(done);
    };
    const takes = poller.add({
        part,
        due,
        async work(isStopped) {
            while (!isStopped()) {
                if (running.size >= concurrency) await Promise.race(running);
                else {
                    const item = await take();
                    if (item === undefined) break;
                    begin(item);
                }
            }
        },
    });
    return {
        async stop() {
            await takes.stop();
            await Promise.all(running);
        },
    };
}
