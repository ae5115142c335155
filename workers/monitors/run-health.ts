import type { App } from '../../shared/app.ts';
import { FAILING } from '../../shared/domain/monitors/bounds.ts';
import { nextRunOf } from '../../shared/fetch/begin-monitor-run.ts';
import type { Db } from '../../shared/platform/db.ts';
import { findCallerById } from '../../shared/store/accounts/callers.ts';
import { queueMail } from '../../shared/store/accounts/mails.ts';
import { keyOwner } from '../../shared/store/accounts/notices.ts';
import { recordEvent } from '../../shared/store/events/events.ts';
import type { MonitorRow } from '../../shared/store/monitors/monitors.ts';
import { setHealth } from '../../shared/store/monitors/runs.ts';

/** Counts a failed run. The tenth in a row sends an event and a mail; it and each further one double the interval. @param dueAt null: by hand */
export async function countFailure(trx: Db, app: App, monitor: MonitorRow, dueAt: Date | null, code: string): Promise<void> {
    const failures = monitor.failures + 1;
    const isPaused = monitor.status === 'paused';
    const isFailing = failures >= FAILING && !isPaused;
    const status = isFailing ? 'failing' : monitor.status;
    const nextRunAt = isPaused ? null : await next(trx, app, { ...monitor, failures }, dueAt);
    await setHealth(trx, monitor.monitorId, { failures, status, nextRunAt });
    if (failures !== FAILING || isPaused) return;
    const { monitorId, name, site, endpoint, workspaceId } = monitor;
    const data = { monitor_id: monitorId, name, metadata: JSON.parse(monitor.metadata), site, endpoint, failures, code };
    await recordEvent(trx, { type: 'monitor.failing', workspaceId, data });
    const owner = await keyOwner(trx, monitor.keyId);
    if (owner === undefined) return;
    await queueMail(trx, app.secrets, {
        to: owner.email,
        subject: `Your monitor of ${endpoint} is failing`,
        text: `The last ${failures} runs of your monitor ${name ?? monitorId} (${endpoint} on ${site}) failed, the last one with ${code}.

It keeps running, less often after each failure but at least once a day. After a success it returns to its schedule.

What the code means: ${app.publicUrl()}/docs/errors#${code}
Your monitor: ${app.publicUrl()}/dashboard/monitors/${monitorId}
`,
    });
}

/** Ends a series of failures and restores the schedule. */
export async function countSuccess(trx: Db, app: App, monitor: MonitorRow, dueAt: Date | null): Promise<void> {
    if (monitor.failures === 0) return;
    const isPaused = monitor.status === 'paused';
    const nextRunAt = isPaused ? null : await next(trx, app, { ...monitor, failures: 0 }, dueAt);
    await setHealth(trx, monitor.monitorId, { failures: 0, status: isPaused ? 'paused' : 'active', nextRunAt });
}

async function next(trx: Db, app: App, monitor: MonitorRow, dueAt: Date | null): Promise<Date> {
    // A failed run that was started by hand does not move the next run. Its failure counts in the interval after that one.
    if (dueAt === null && monitor.failures > 0 && monitor.nextRunAt !== null) return monitor.nextRunAt;
    const caller = await findCallerById(trx, monitor.keyId);
    return nextRunOf(app, monitor, caller?.plan ?? 'free', dueAt);
}
