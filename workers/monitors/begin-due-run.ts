import type { App } from '../../shared/app.ts';
import { defined } from '../../shared/domain/defined.ts';
import type { PausedReason } from '../../shared/domain/monitors/states.ts';
import { newId } from '../../shared/domain/text/ids.ts';
import { nextRunOf, type PreparedRun, prepareRun, storeRun } from '../../shared/fetch/begin-monitor-run.ts';
import { Refusal } from '../../shared/refusals.ts';
import { findCallerById } from '../../shared/store/accounts/callers.ts';
import { sealError } from '../../shared/store/jobs/sealed.ts';
import { addEndedRun, type DueMonitor, endClaim, runningJob } from '../../shared/store/monitors/runs.ts';
import { countFailure } from './run-health.ts';

export const PAUSES: Readonly<Record<string, PausedReason>> = {
    SITE_BLOCKED: 'site_blocked',
    SITE_NOT_FOUND: 'yanked',
    VERSION_NOT_FOUND: 'yanked',
};
/** Codes that are not the monitor's fault: the run is retried when the claim expires. */
const WAITS = ['SITE_UNAVAILABLE', 'SERVICE_UNAVAILABLE', 'OVERLOADED'];

/**
 * Starts a due run of a monitor as a job, and sets its next time. Missed runs are not caught up. Each outcome is one transaction that
 * checks the claim, so that a monitor runs once even if two workers believe that they hold the claim.
 */
export async function beginDueRun(app: App, monitor: DueMonitor): Promise<void> {
    const caller = await findCallerById(app.db, monitor.keyId);
    const pause = (reason: PausedReason) => endClaim(app.db, monitor, { paused: reason });
    if (caller === undefined || caller.suspended) return void (await pause('key'));
    const dueAt = monitor.nextRunAt ?? new Date(app.clock.now());
    let prepared: PreparedRun | undefined;
    let refusal: Refusal | undefined;
    try {
        prepared = await prepareRun(app, caller, monitor);
    } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        refusal = error;
    }
    if (refusal !== undefined && WAITS.includes(refusal.code)) return;
    const paused = refusal === undefined ? undefined : PAUSES[refusal.code];
    if (paused !== undefined) return void (await pause(paused));
    const ended = { runId: newId('run'), monitorId: monitor.monitorId, base: monitor.base, dueAt };
    await app.db.transaction(async (trx) => {
        if (!(await endClaim(trx, monitor, { nextRunAt: nextRunOf(app, monitor, caller.plan, dueAt) }))) return;
        if ((await runningJob(trx, monitor.monitorId)) !== undefined) {
            await addEndedRun(trx, ended, { status: 'skipped', reason: 'unfinished' });
        } else if (refusal !== undefined) {
            const { code, message, extras } = refusal;
            const error = await sealError(app.secrets, defined({ message, details: extras.details }));
            await addEndedRun(trx, ended, { status: 'failed', code, error });
            await countFailure(trx, app, monitor, dueAt, code);
        } else if (prepared !== undefined && !(await storeRun(trx, monitor, prepared, dueAt))) {
            await addEndedRun(trx, ended, { status: 'skipped', reason: 'max_credits_per_day' });
        }
    });
}
