import type { App } from '../../shared/app.ts';
import type { MonitorParams } from '../../shared/contracts/monitor-fields.ts';
import { RUNS_BY_HAND } from '../../shared/domain/monitors/bounds.ts';
import { newId } from '../../shared/domain/text/ids.ts';
import { type PreparedRun, prepareRun, storeRun } from '../../shared/fetch/begin-monitor-run.ts';
import { presentJob, readerOf } from '../../shared/fetch/present-job.ts';
import type { Db } from '../../shared/platform/db.ts';
import { pollUntil } from '../../shared/platform/poll-until.ts';
import { Refusal } from '../../shared/refusals.ts';
import { cancelJob } from '../../shared/store/jobs/ends.ts';
import { findJob } from '../../shared/store/jobs/jobs.ts';
import { addJob } from '../../shared/store/jobs/orders.ts';
import { changeMonitor, lockMonitor, type MonitorRow } from '../../shared/store/monitors/monitors.ts';
import { addEndedRun, isRunEnding, runningJob } from '../../shared/store/monitors/runs.ts';
import { orderInTurn } from '../admission/writes.ts';
import type { Call, Reply } from '../call.ts';
import { checkTakeover } from './check-monitor.ts';
import { mustFindMonitor } from './monitors.ts';

/** How long to wait for the end of a run. */
const LOOKS = { everyMs: 50, maxMs: 5000 };

/** POST /v1/monitors/{monitor_id}/run: later runs also use the calling key. @throws Refusal RATE_LIMITED, PLAN_LIMIT */
export async function runMonitor(call: Call<MonitorParams, object, undefined>): Promise<Reply<never>> {
    const { app, caller } = call;
    const monitor = await mustFindMonitor(call);
    const { monitorId } = monitor;
    const verdict = await app.limits.take({ identity: `runs:monitor:${monitorId}`, windows: [RUNS_BY_HAND] });
    if (!verdict.ok) {
        const message = `You can run a monitor by hand up to ${RUNS_BY_HAND.limit} times an hour.`;
        throw new Refusal('RATE_LIMITED', message, { retryAfter: verdict.retryAfter });
    }
    await waitForRunEnd(app, monitorId);
    const running = await runningJob(app.db, monitorId);
    const prepared = running === undefined ? await prepareRun(app, caller, monitor) : undefined;
    const run = async (trx: Db): Promise<string | undefined> => {
        const locked = await lockMonitor(trx, monitorId);
        if (locked === undefined) throw new Refusal('MONITOR_NOT_FOUND');
        await checkTakeover(trx, app, caller, locked);
        await changeMonitor(trx, monitorId, { keyId: caller.keyId, userId: caller.userId });
        const other = await runningJob(trx, monitorId);
        if (other !== undefined || prepared === undefined) return other ?? running;
        // The call was read before the lock. If it has changed since, the run belongs to the old base.
        const read = { ...locked, base: monitor.base };
        if (!(await storeRun(trx, read, prepared, null))) await skipRun(trx, read, prepared);
        return prepared.job.jobId;
    };
    const jobId = await orderInTurn(call, () => app.db.transaction(run));
    const row = jobId === undefined ? undefined : await findJob(app.db, readerOf(caller), jobId);
    if (row === undefined) throw new Refusal('MONITOR_NOT_FOUND');
    const text = `{"success":true,"data":${await presentJob(app, row, { result: true })}}`;
    return { text, isKept: false, headers: { location: `/v1/jobs/${row.jobId}` } };
}

/** Waits until a worker has ended a run whose job has ended, so that the answer is a new job. */
async function waitForRunEnd({ db, isDraining }: App, monitorId: string): Promise<void> {
    await pollUntil(
        LOOKS,
        () => isRunEnding(db, monitorId),
        (isEnding) => !isEnding || isDraining(),
    );
}

/** Skips a run that could exceed max_credits_per_day. The answer is still a job, which is cancelled at once. */
async function skipRun(trx: Db, { monitorId, base, workspaceId }: MonitorRow, { job, expiresIn }: PreparedRun): Promise<void> {
    await addJob(trx, job, expiresIn);
    await cancelJob(trx, workspaceId, job.jobId);
    await addEndedRun(
        trx,
        { runId: newId('run'), monitorId, base, dueAt: null },
        { status: 'skipped', reason: 'max_credits_per_day', job },
    );
}
