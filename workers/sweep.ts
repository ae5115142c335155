import type { App } from '../shared/app.ts';
import { forgetClaims } from '../shared/store/claims.ts';
import { sweepAnswers } from '../shared/store/idempotency.ts';
import { forgetNotices } from '../shared/store/notices.ts';
import { sweepResults } from '../shared/store/results.ts';
import { forgetSpending } from '../shared/store/spending.ts';
import * as usage from '../shared/store/usage.ts';
import { forgetExpired } from '../shared/store/web-sessions.ts';
import { maintainAudit } from '../shared/store/workspace-audit.ts';
import { forgetNews } from '../shared/store/workspace-news.ts';
import { watchSpending } from './watch-spending.ts';

const SWEEP_MS = 1000;
const PRUNE_MS = 3_600_000;
/** The request log is kept for so many days; the ledger for ever. */
const USAGE_DAYS = 90;

/**
 * Once a second: releases holds whose request never ended, resets allowances of accounts that nobody used on their billing
 * date, deletes answers whose key ran out and results that nobody may be served any more, and tells people whose allowance is nearly
 * spent, or whose calls all fail. Once an hour: forgets old rows of the request log, and sessions, links, notices and
 * months of audits that are over.
 * Every process may run it; the store lets each row be swept once.
 */
export function startSweeper(app: App): { stop(): Promise<void> } {
    const { credits, db, log } = app;
    let running: Promise<void> = Promise.resolve();
    let prunedAt = performance.now();
    const timer = setInterval(() => {
        running = running.then(async () => {
            try {
                const swept = await credits.sweep();
                if (swept.released > 0) log.info({ released: swept.released }, 'released holds whose request never ended');
                await sweepAnswers(db);
                await sweepResults(db);
                await watchSpending(app);
                if (performance.now() - prunedAt > PRUNE_MS) {
                    prunedAt = performance.now();
                    await usage.pruneUsage(db, { days: USAGE_DAYS });
                    await forgetExpired(db);
                    await forgetNotices(db);
                    await forgetSpending(db);
                    await maintainAudit(db);
                    await forgetClaims(db);
                    await forgetNews(db);
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
