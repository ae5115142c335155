import type { App } from '../../shared/app.ts';
import { PLANS } from '../../shared/domain/accounts/plans.ts';
import { pauseSurplus } from '../../shared/store/monitors/monitors.ts';
import { MONITOR_IS_DUE, RUN_HAS_ENDED, takeDueMonitor, takeEndedRun } from '../../shared/store/monitors/runs.ts';
import { type DuePoller, type Repeated, repeatOnDatabase, runDue, together } from '../repeat.ts';
import type { Reader } from '../select/reader.ts';
import { beginDueRun } from './begin-due-run.ts';
import { endRun } from './end-run.ts';

/** Runs that one process starts concurrently, and runs that it ends. Each uses one or two database connections. */
const MAX = 4;
/** How often the limits of plans are enforced. */
const PLANS_MS = 10_000;

const monitorsOfPlans = Object.fromEntries(Object.entries(PLANS).map(([plan, { monitors }]) => [plan, monitors]));

/**
 * Starts due runs of monitors and ends runs whose jobs have ended. Every worker does this; each monitor is claimed by one. If a worker
 * fails, the monitor is claimed again when its claim expires.
 */
export function startMonitors(app: App, poller: DuePoller, reader: Reader): Repeated {
    const { db, log } = app;
    const about = ({ monitorId }: { monitorId: string }) => ({ monitor_id: monitorId });
    return together([
        runDue(poller, {
            part: 'monitor-ends',
            due: RUN_HAS_ENDED,
            concurrency: MAX,
            take: () => takeEndedRun(db),
            run: (run) => endRun(app, reader, run),
            about,
        }),
        runDue(poller, {
            part: 'monitors',
            due: MONITOR_IS_DUE,
            concurrency: MAX,
            take: () => takeDueMonitor(db),
            run: (monitor) => beginDueRun(app, monitor),
            about,
        }),
        repeatOnDatabase(log, { part: 'monitor-plans', everyMs: PLANS_MS }, () => pauseSurplus(db, monitorsOfPlans)),
    ]);
}
