import type { App } from '../shared/app.ts';
import type { Db } from '../shared/platform/db.ts';
import { forgetNotices } from '../shared/store/accounts/notices.ts';
import { forgetSignUps } from '../shared/store/accounts/sign-up.ts';
import { forgetExpired } from '../shared/store/accounts/user-sessions.ts';
import { maintainAudit } from '../shared/store/accounts/workspace-audit.ts';
import { forgetNews } from '../shared/store/accounts/workspace-news.ts';
import { forgetApps } from '../shared/store/apps/apps.ts';
import { forgetGrants } from '../shared/store/apps/grants.ts';
import { forgetTrials } from '../shared/store/connections/connections.ts';
import { forgetConnectionUses } from '../shared/store/connections/uses.ts';
import { forgetSpending } from '../shared/store/credits/spending.ts';
import { disableWebhooks, disableWebhooksOfLeavers } from '../shared/store/events/disable-webhooks.ts';
import { forgetEvents } from '../shared/store/events/event-feed.ts';
import { findBacklogs } from '../shared/store/events/webhooks.ts';
import { sweepAnswers } from '../shared/store/fetch/idempotency.ts';
import { sweepResults } from '../shared/store/fetch/results.ts';
import { forgetClaims } from '../shared/store/registry/claims.ts';
import { forgetReports } from '../shared/store/registry/problem-reports.ts';
import { applyDueRemovals } from '../shared/store/registry/removals.ts';
import { scheduleStarters } from '../shared/store/registry/starter-sites.ts';
import { maintainUsage } from '../shared/store/usage/traffic.ts';
import { type Repeated, repeat } from './repeat.ts';
import { watchSpending } from './watch-spending.ts';

const SWEEP_MS = 1000;
const PRUNE_MS = 3_600_000;
/** How often to look for webhooks to disable. */
const WEBHOOKS_MS = 10_000;
/** How often runs of starter packages become due, with STARTER_VERIFY. */
const STARTER_RUNS_MS = 60_000;

const PRUNED = [
    (db: Db) => maintainUsage(db),
    forgetExpired,
    forgetNotices,
    forgetSpending,
    forgetSignUps,
    maintainAudit,
    forgetConnectionUses,
    forgetTrials,
    forgetClaims,
    forgetNews,
    forgetReports,
    forgetEvents,
    forgetGrants,
    forgetApps,
];

/**
 * Starts the sweeper. Each second it releases holds whose request never ended, resets allowances of idle accounts on their billing date,
 * deletes expired idempotent answers and stored results, removes maintainers whose removal is due, and notifies people about low allowances
 * and failing calls. Every ten seconds it disables webhooks with too many waiting deliveries and those of people who left. Each minute it
 * queues starter packages for verification, with STARTER_VERIFY. Each hour it creates partitions of the request log, drops old ones, and
 * deletes expired sessions, links, notices, audits and events. Every process may run it; the store sweeps each row once.
 */
export function startSweeper(app: App): Repeated {
    const { credits, db, log } = app;
    let prunedAt = performance.now();
    let starterRunsAt = 0;
    let webhooksAt = 0;
    return repeat(SWEEP_MS, async () => {
        try {
            const swept = await credits.sweep();
            if (swept.released > 0) log.info({ released: swept.released }, 'released holds whose request never ended');
            await sweepAnswers(db);
            await sweepResults(db);
            await applyDueRemovals(db);
            await watchSpending(app);
            if (performance.now() >= webhooksAt) {
                webhooksAt = performance.now() + WEBHOOKS_MS;
                await disableWebhooks(db, await findBacklogs(db), 'backlog');
                await disableWebhooksOfLeavers(db);
            }
            if (app.config.starterVerify && performance.now() >= starterRunsAt) {
                starterRunsAt = performance.now() + STARTER_RUNS_MS;
                await scheduleStarters(db);
            }
            if (performance.now() - prunedAt > PRUNE_MS) {
                prunedAt = performance.now();
                for (const forget of PRUNED) await forget(db);
            }
        } catch (error) {
            log.warn({ part: 'sweep', err: error }, 'the sweep failed; it runs again in a second');
        }
    });
}
