import { type Turns, turnOfConnection } from '../shared/coordination/circuits/circuits.ts';
import type { FetchJob } from '../shared/domain/fetch/fetch-job.ts';
import { type ConnectionLog, watchConnection } from '../shared/platform/connection-log.ts';

/** Pause after a 429 without Retry-After, and the longest pause after one with it. */
const PAUSE_MS = 250;
const MAX_PAUSE_MS = 5000;
/** How long a worker keeps asking for turns after the last wait or pause. */
const WATCH_MS = 1000;

/** Spaces the requests of one job to the hosts of its site. */
export interface Pace {
    /** Whether a refused turn is requested again after `waitMs`, until the deadline. */
    asksAgain: boolean;
    /** Takes the next turn of a host if it is due within `patienceMs`. The caller then waits `waitMs`. */
    turn(host: string, patienceMs: number): Promise<{ granted: boolean; waitMs: number }>;
    /**
     * Pauses requests to a host after a 429. If the refused request carried a connection's credential, only requests of this connection
     * pause.
     * @param refused.retryAfter seconds, from the host @param refused.ageMs milliseconds since the request was sent
     * @param refused.isOwn the request carried the credential of the job's connection
     */
    slowDown(host: string, refused: { retryAfter: number | undefined; ageMs: number; isOwn: boolean }): void;
}

/** @param job.connection pauses of this connection apply too @param job.queued takes only turns that are due now */
export type PaceFor = (registrable: string, job: Pick<FetchJob, 'pace' | 'connection' | 'queued'>) => Pace;

/**
 * Creates the paces of a worker's jobs. It calls the store only when a wait is possible: if the domain or a host has a pace, or if
 * admission or this worker has seen a pause. If the store does not answer, requests do not wait.
 */
export function createPaces(turns: Turns, log: ConnectionLog): PaceFor {
    const status = watchConnection(log, 'turns of sites');
    const watchedUntil = new Map<string, number>();
    const watch = (host: string, ms: number) => {
        watchedUntil.delete(host);
        watchedUntil.set(host, performance.now() + ms + WATCH_MS);
        for (const [known, until] of watchedUntil) {
            if (until > performance.now()) break;
            watchedUntil.delete(known);
        }
    };
    const isWatched = (key: string | undefined) => key !== undefined && (watchedUntil.get(key) ?? 0) > performance.now();
    return (registrable, { pace, connection, queued }) => {
        let taken = queued?.turn;
        const hosts = new Map(Object.entries(pace?.hosts ?? {}));
        const ownKey = (host: string) => (connection === undefined ? undefined : turnOfConnection(connection, host));
        return {
            asksAgain: queued !== undefined,
            async turn(host, patienceMs) {
                if (taken === host) {
                    taken = undefined;
                    return AT_ONCE;
                }
                const own = ownKey(host);
                if (pace === undefined && !isWatched(host) && !isWatched(own)) return AT_ONCE;
                try {
                    const turn = await turns.take(
                        { host, registrable, rate: pace?.rate, perMinute: hosts.get(host), own },
                        queued === undefined ? patienceMs : 0,
                    );
                    status.up();
                    if (turn.waitMs > 0) watch(isWatched(own) && own !== undefined ? own : host, turn.waitMs);
                    return turn;
                } catch (error) {
                    status.down(error);
                    return AT_ONCE;
                }
            },
            slowDown(host, { retryAfter, ageMs, isOwn }) {
                const key = (isOwn ? ownKey(host) : undefined) ?? host;
                const pauseMs = retryAfter === undefined ? PAUSE_MS : Math.min(MAX_PAUSE_MS, retryAfter * 1000);
                if (pauseMs <= 0) return;
                watch(key, pauseMs);
                turns.pause(key, pauseMs, ageMs).then(
                    (isFirst) => {
                        status.up();
                        if (isFirst) log.info({ part: 'pace', host, pause_ms: pauseMs }, 'a host answered 429; its requests pause');
                    },
                    (error: unknown) => status.down(error),
                );
            },
        };
    };
}

const AT_ONCE = { granted: true, waitMs: 0 } as const;
