import type { App } from '../shared/app.ts';
import { watchConnection } from '../shared/platform/connection-log.ts';
import * as verification from '../shared/store/registry/verification.ts';
import { verifySite } from './verify/verify-site.ts';

/** Concurrent runs of one process. Each is for another domain and mostly idle. */
const MAX_RUNS = 16;

export interface VerifierOptions {
    /** Pause between two calls of one site. Only tests change it. */
    paceMs?: number;
    /** How often to check for due runs. */
    lookMs?: number;
}

/**
 * Starts the verifier (docs/api.md, "Registry"). Once a second it makes the due runs: after a publish, after a day, or on an operator's
 * request. The calls go through the queue with low priority. Every worker process may run it; the store gives each run to one of them.
 */
export function startVerifier(app: App, { paceMs = 1000, lookMs = 1000 }: VerifierOptions = {}): { stop(): Promise<void> } {
    const { db, log } = app;
    const stopping = new AbortController();
    const running = new Set<Promise<void>>();
    const status = watchConnection(log, 'verification');
    const begin = (run: verification.VerificationRun) => {
        const done = verifySite(app, run, { paceMs, signal: stopping.signal })
            .catch((error: unknown) =>
                log.warn({ part: 'verification', site: run.site, err: error }, 'a verification run failed; it will be repeated'),
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
            status.up();
        } catch (error) {
            status.down(error);
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
