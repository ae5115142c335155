import type { App } from '../shared/app.ts';
import { sweepAnswers } from '../shared/store/idempotency.ts';
import { sweepResults } from '../shared/store/results.ts';
import * as usage from '../shared/store/usage.ts';

const SWEEP_MS = 1000;
const PRUNE_MS = 3_600_000;
/** The request log is kept for so many days; the ledger for ever. */
const USAGE_DAYS = 90;

/**
 * Once a second: releases holds whose request never ended, resets allowances of accounts that nobody used on their billing
 * date, and deletes answers whose key ran out and results that nobody may be served any more. Once an hour: forgets old rows of the request log. Every process may run it;
 * the store lets each row be swept once.
 */
export function startSweeper({ credits, db, log }: App): { stop(): Promise<void> } {
    let running: Promise<void> = Promise.resolve();
    let prunedAt = performance.now();
    const timer = setInterval(() => {
        running = running.then(async () => {
            try {
                const swept = await credits.sweep();
                if (swept.released > 0) log.info({ released: swept.released }, 'released holds whose request never ended');
                await sweepAnswers(db);
                await sweepResults(db);
                if (performance.now() - prunedAt > PRUNE_MS) {
                    prunedAt = performance.now();
                    await usage.pruneUsage(db, { days: USAGE_DAYS });
                }
            } catch (error) {
                log.warn({ part: 'sweep', err: error }, 'the sweep failed; it runs again in a second');
            }
        });
    }, SWEEP_MS);
    return {
        async stop() {
            clearInterval(timer);
            await running;
        },
    };
}
