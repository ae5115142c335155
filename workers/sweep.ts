import type { App } from '../shared/app.ts';
import { watchConnection } from '../shared/platform/connection-log.ts';
import type { Db } from '../shared/platform/db.ts';
import { deleteRests } from '../shared/store/accounts/delete-rests.ts';
import { maintainAudit } from '../shared/store/accounts/workspace-audit.ts';
import { disableWebhooks, findBacklogs, stopDisabled } from '../shared/store/events/disable-webhooks.ts';
import { sweepAnswers } from '../shared/store/fetch/idempotency.ts';
import { sweepResults } from '../shared/store/fetch/results.ts';
import { OLD_ROWS } from '../shared/store/old-rows.ts';
import { applyDueRemovals } from '../shared/store/registry/removals.ts';
import { scheduleStarters } from '../shared/store/registry/starter-sites.ts';
import { maintainUsage } from '../shared/store/usage/traffic.ts';
import { type Repeated, repeat, together } from './repeat.ts';
import { watchSpending } from './watch-spending.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

interface Sweep {
    part: string;
    /** Whole seconds. All work also runs in the first second. */
    everyMs: number;
    work(db: Db): Promise<unknown>;
}

/**
 * Starts the sweeper, which runs all regular work. Work of one interval runs one after the other, and beside work of other intervals: an
 * hourly deletion of millions of rows must not delay the release of holds. Work that fails is logged and holds up no other work. Every
 * process may run a sweeper; the store sweeps each row once.
 */
export function startSweeper(app: App): Repeated {
    const byInterval = [...Map.groupBy(sweepsOf(app), ({ everyMs }) => everyMs)];
    return together(byInterval.map(([everyMs, some]) => sweepEvery(everyMs, app, some)));
}

function sweepEvery(ms: number, { db, log }: App, some: readonly Sweep[]): Repeated {
    const sweeps = some.map(({ part, work }) => ({ work, status: watchConnection(log, part) }));
    let seconds = 0;
    return repeat(SECOND_MS, async () => {
        const isDue = (seconds++ * SECOND_MS) % ms === 0;
        if (isDue) for (const { work, status } of sweeps) await work(db).then(status.up, status.down);
    });
}

function sweepsOf(app: App): Sweep[] {
    const sweeps: Sweep[] = [
        { part: 'expired holds', everyMs: SECOND_MS, work: () => releaseHolds(app) },
        { part: 'expired idempotent answers', everyMs: SECOND_MS, work: sweepAnswers },
        { part: 'expired results', everyMs: SECOND_MS, work: sweepResults },
        { part: 'due removals', everyMs: SECOND_MS, work: applyDueRemovals },
        { part: 'spending notices', everyMs: SECOND_MS, work: () => watchSpending(app) },
        { part: 'webhooks to disable', everyMs: 10 * SECOND_MS, work: disableUnusableWebhooks },
        // An interval of its own, because a large account takes minutes.
        { part: 'deleted accounts', everyMs: 5 * SECOND_MS, work: deleteRests },
        { part: 'usage', everyMs: HOUR_MS, work: (db) => maintainUsage(db) },
        { part: 'audit', everyMs: HOUR_MS, work: maintainAudit },
        ...OLD_ROWS.map(([table, isOld]) => ({
            part: `old ${table}`,
            everyMs: HOUR_MS,
            work: (db: Db) => db(table).whereRaw(isOld).delete(),
        })),
    ];
    if (app.config.starterVerify) sweeps.push({ part: 'starter packages', everyMs: MINUTE_MS, work: scheduleStarters });
    return sweeps;
}

/** Also resets the allowances of idle accounts on their billing date. */
async function releaseHolds({ credits, log }: App): Promise<void> {
    const { released } = await credits.sweep();
    if (released > 0) log.info({ released }, 'released holds whose request never ended');
}

/** Webhooks with too many waiting deliveries. */
async function disableUnusableWebhooks(db: Db): Promise<void> {
    await disableWebhooks(db, await findBacklogs(db), 'backlog');
    await stopDisabled(db);
}
