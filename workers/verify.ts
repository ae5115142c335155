import type { App } from '../shared/app.ts';
import { watchOutage } from '../shared/outage.ts';
import * as verification from '../shared/store/verification.ts';
import { verifySite } from './verify/verify-site.ts';

/** Runs that one process makes at the same time, each of another domain and mostly waiting for its next second. */
const MAX_RUNS = 16;

export interface VerifierOptions {
    /** Between two calls of one site. Only tests pass another pace. */
    paceMs?: number;
    /** How often it looks for runs that are due. */
    lookMs?: number;
}

/**
 * Verification (CONTRACT 3.2, "Verified"): looks once a second for runs that are due (a version was published, a day went by, or an
 * operator asked) and makes them. The calls go through the queue like everybody's, behind everybody else. Every worker process may run
 * it; the store gives each run to one of them.
 */
export function startVerifier(app: App, { paceMs = 1000, lookMs = 1000 }: VerifierOptions = {}): { stop(): Promise<void> } {
    const { db, log } = app;
    const stopping = new AbortController();
    const running = new Set<Promise<void>>();
    const outage = watchOutage(log, 'verification');
    const begin = (run: verification.VerificationRun) => {
        const done = verifySite(app, run, { paceMs, signal: stopping.signal })
            .catch((error: unknown) =>
                log.warn({ part: 'verification', site: run.site, err: error }, 'a verification run broke off; it is made again'),
            )
            .finally(() => running.delete(done));
        running.add(done);
    };
    const look = async () => {
        try {
            while (running.size < MAX_RUNS && !stopping.signal.aborted) {
                const run = await verification.claimRun(db);
                if (run === undefined) break;
                begin(run);
            }
            outage.up();
        } catch (error) {
            outage.down(error);
        }
    };
    let looking: Promise<void> | undefined;
    const timer = setInterval(() => {
        looking ??= look().finally(() => {
            looking = undefined;
        });
    }, lookMs);
    return {
        async stop() {
            clearInterval(timer);
            stopping.abort();
            await looking;
            await Promise.all(running);
        },
    };
}
