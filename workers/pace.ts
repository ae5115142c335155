import type { Turns } from '../shared/circuit.ts';
import type { FetchJob } from '../shared/domain/fetch.ts';
import { type OutageLog, watchOutage } from '../shared/outage.ts';

/** A 429 without Retry-After holds requests back so long, and one with it never longer than this. */
const PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;
/** Turns are asked for so long after the last sign that somebody waits. */
const WATCH_MS = 1000;

/** When requests of one job may be sent to its site. */
export interface Pace {
    /** Takes the next turn, if it comes within `patienceMs`; the caller waits for it. */
    turn(patienceMs: number): Promise<{ granted: boolean; waitMs: number }>;
    /** The site answered 429. @param retryAfter seconds that it asks for @param ageMs since the request was sent */
    slowDown(retryAfter: number | undefined, ageMs: number): void;
}

export type OpenPace = (registrable: string, pace: FetchJob['pace']) => Pace;

/**
 * Turns for all jobs of a worker. The store is asked only where there is something to wait for: a pace that an operator set, a pause
 * that was seen at admission, or one that this worker saw itself. Where the store does not answer, nobody waits.
 */
export function openPaces(turns: Turns, log: OutageLog): OpenPace {
    const outage = watchOutage(log, 'turns of sites');
    const watchedUntil = new Map<string, number>();
    const watch = (registrable: string, ms: number) => {
        watchedUntil.delete(registrable);
        watchedUntil.set(registrable, performance.now() + ms + WATCH_MS);
        for (const [site, until] of watchedUntil) {
            if (until > performance.now()) break;
            watchedUntil.delete(site);
        }
    };
    return (registrable, pace) => ({
        async turn(patienceMs) {
            if (pace === undefined && (watchedUntil.get(registrable) ?? 0) <= performance.now()) return AT_ONCE;
            try {
                const turn = await turns.take(registrable, pace?.rate, patienceMs);
                outage.up();
                if (turn.waitMs > 0) watch(registrable, turn.waitMs);
                return turn;
            } catch (error) {
                outage.down(error);
                return AT_ONCE;
            }
        },
        slowDown(retryAfter, ageMs) {
            const pauseMs = retryAfter === undefined ? PAUSE_MS : Math.min(LONGEST_PAUSE_MS, retryAfter * 1000);
            if (pauseMs <= 0) return;
            watch(registrable, pauseMs);
            turns.pause(registrable, pauseMs, ageMs).then(
                (isFirst) => {
                    outage.up();
                    if (isFirst)
                        log.info({ part: 'pace', site: registrable, pause_ms: pauseMs }, 'a site limits our calls; they slow down');
                },
                (error: unknown) => outage.down(error),
            );
        },
    });
}

const AT_ONCE = { granted: true, waitMs: 0 } as const;
