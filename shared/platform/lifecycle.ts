import { within } from './within.ts';

/** The part of a pino logger that this file needs. */
export interface LifecycleLog {
    info(fields: object, message: string): void;
    error(fields: object, message: string): void;
}

/** The resources of a process, which are closed in reverse order. Register each close immediately after the open. */
export interface Cleanup {
    /** @param options.timeoutMs how long this close may take before the next one begins (default 10 s) */
    add(name: string, close: () => Promise<void> | void, options?: { timeoutMs?: number }): void;
    /** Closes all resources, the last opened first. Never throws. Logs each close that fails or takes too long. */
    close(): Promise<void>;
}

/** Creates an empty cleanup. @param log receives closes that fail or take too long */
export function createCleanup(log: LifecycleLog): Cleanup {
    const opened: Array<{ name: string; close: () => Promise<void> | void; timeoutMs: number }> = [];
    return {
        add(name, close, { timeoutMs = 10_000 } = {}) {
            opened.push({ name, close, timeoutMs });
        },
        async close() {
            for (let last = opened.pop(); last !== undefined; last = opened.pop()) {
                const { name, close, timeoutMs } = last;
                try {
                    const isInTime = await endsWithin(timeoutMs, async () => close());
                    if (!isInTime) log.error({ part: name, timeout_ms: timeoutMs }, `${name} did not close in time`);
                } catch (error) {
                    log.error({ part: name, err: error }, `${name} failed to close`);
                }
            }
        },
    };
}

interface Run {
    /** Opens all resources and registers each close. After a failure, the opened resources are closed. */
    start(cleanup: Cleanup): Promise<void>;
    /** Time limit for all closes together. */
    graceMs: number;
    log: LifecycleLog;
}

/**
 * Runs the life cycle of a process: start, wait for SIGINT or SIGTERM, close in reverse order within the grace time, exit 0. Exits 1 if the
 * start fails (prints one line on stderr, or each of the error's `lines`), if an error was not caught, or if the grace time ran out. A
 * second signal exits at once with the code that a shell expects: 130 or 143. Never resolves, because it ends in `process.exit`.
 */
export async function runUntilSignal({ start, graceMs, log }: Run): Promise<never> {
    const cleanup = createCleanup(log);
    const stop = onSignal(log);
    let hasFault = false;
    process.on('uncaughtException', (error) => {
        hasFault = true;
        log.error({ err: error }, 'uncaught error: stopping');
        stop.request();
    });
    const started = start(cleanup);
    try {
        await Promise.race([started, stop.requested]);
    } catch (error) {
        await endsWithin(graceMs, () => cleanup.close());
        for (const line of linesOf(error)) process.stderr.write(`routebook: ${line}\n`);
        process.exit(1);
    }
    await stop.requested;
    const isInTime = await endsWithin(graceMs, async () => {
        // An interrupted start finishes first, because only then are all its resources registered.
        await started.catch(() => undefined);
        await cleanup.close();
    });
    if (!isInTime) log.error({ grace_ms: graceMs }, 'the grace time ran out: exiting with work unfinished');
    process.exit(isInTime && !hasFault ? 0 : 1);
}

/** On Ctrl-C, npm forwards a copy of the signal shortly after the terminal's own. Only a later signal is a second request. */
const ECHO_MS = 250;
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

function onSignal(log: LifecycleLog) {
    const { promise, resolve } = Promise.withResolvers<void>();
    let first: { name: string; at: number } | undefined;
    for (const name of ['SIGINT', 'SIGTERM'] as const) {
        process.on(name, () => {
            if (first === undefined) {
                first = { name, at: performance.now() };
                log.info({ signal: name }, `${name}: finishing what is in flight, then stopping; a second signal stops at once`);
                resolve();
            } else if (name !== first.name || performance.now() - first.at > ECHO_MS) {
                process.exit(EXIT_CODES[name]);
            }
        });
    }
    return { requested: promise, request: resolve };
}

function linesOf(error: unknown): string[] {
    if (error instanceof AggregateError && error.message === '') return linesOf(error.errors[0]);
    if (!(error instanceof Error)) return [String(error)];
    if ('lines' in error && Array.isArray(error.lines)) return error.lines.map(String);
    const text = error.message === '' ? error.name : error.message;
    const lines = text.split('\n').map((line) => line.trim());
    return [lines.filter((line) => line !== '').join(' ')];
}

/** Whether the work ended in time. @throws errors that the work throws within that time */
function endsWithin(ms: number, work: () => Promise<void>): Promise<boolean> {
    return within(
        ms,
        work().then(() => true),
        () => false,
    );
}
