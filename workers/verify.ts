import type { App } from '../shared/app.ts';
import { claimRun, RUN_IS_DUE } from '../shared/store/registry/verification.ts';
import { openDuePoller, type Repeated, runDue } from './repeat.ts';
import { verifySite } from './verify/verify-site.ts';

/** Concurrent runs of one process. Each is for a different domain and mostly idle. */
const MAX_RUNS = 16;

export interface VerifierOptions {
    /** Pause between two calls of one site. Only tests change it. */
    paceMs?: number;
    pollMs?: number;
}

/**
 * Starts the verifier (docs/api.md, "The registry"). Once a second it starts the due runs: after a publish, after a day, or on an operator's
 * request. The calls go through the queue with low priority. Every worker process may run it; the store gives each run to one of them.
 */
export function startVerifier(app: App, { paceMs = 1000, pollMs = 1000 }: VerifierOptions = {}): Repeated {
    const stopping = new AbortController();
    const poller = openDuePoller(app, pollMs);
    const runs = runDue(poller, {
        part: 'verification',
        due: RUN_IS_DUE,
        concurrency: MAX_RUNS,
        take: () => claimRun(app.db),
        run: (run) => verifySite(app, run, { paceMs, signal: stopping.signal }),
        about: ({ registrable }) => ({ site: registrable }),
    });
    return {
        async stop() {
            stopping.abort();
            await runs.stop();
            await poller.stop();
        },
    };
}
