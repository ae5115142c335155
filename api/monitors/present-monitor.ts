import type { App } from '../../shared/app.ts';
import type { FetchRequest } from '../../shared/contracts/fetch.ts';
import type { Monitor, MonitorRun } from '../../shared/contracts/monitor-fields.ts';
import { presentFields } from '../../shared/domain/text/snake-case.ts';
import { openCall } from '../../shared/fetch/begin-monitor-run.ts';
import { errorObject } from '../../shared/fetch/error-object.ts';
import { eachInTurn } from '../../shared/platform/turns.ts';
import { Refusal, type RefusalCode } from '../../shared/refusals.ts';
import { openError } from '../../shared/store/jobs/sealed.ts';
import { type ChangeRow, lastRuns, type MonitorRow, type RunRow } from '../../shared/store/monitors/monitors.ts';
import { openText } from '../../shared/store/monitors/sealed.ts';

export async function presentMonitors(app: App, rows: readonly MonitorRow[]): Promise<Monitor[]> {
    const runs = await lastRuns(app.db, rows);
    return Promise.all(rows.map((row) => present(app, row, runs.get(row.monitorId))));
}

/** The same as JSON texts. They are written one after another, since each may have params of 2 MiB. */
export async function writeMonitors(app: App, rows: readonly MonitorRow[]): Promise<string[]> {
    const runs = await lastRuns(app.db, rows);
    return eachInTurn(rows, async (row) => JSON.stringify(await present(app, row, runs.get(row.monitorId))));
}

async function present(app: App, row: MonitorRow, last: RunRow | undefined): Promise<Monitor> {
    const call: Partial<FetchRequest> = (await openCall(app, row)) ?? {};
    return {
        ...presentFields(row, 'monitor_id name site endpoint'),
        params: call.params ?? {},
        version: call.version ?? null,
        timeout_ms: call.timeout_ms ?? null,
        max_results: call.max_results ?? null,
        max_pages: call.max_pages ?? null,
        max_credits: call.max_credits ?? null,
        connection: call.connection ?? null,
        ...presentFields(row, 'every cron timezone watch identity'),
        when: JSON.parse(row.notifyWhen),
        max_credits_per_day: row.maxCreditsPerDay,
        metadata: JSON.parse(row.metadata),
        ...presentFields(row, 'status paused_reason next_run_at'),
        last_run: last === undefined ? null : await presentRun(app, last),
        ...presentFields(row, 'failures created_at'),
    };
}

export async function presentRun(app: App, row: RunRow): Promise<MonitorRun> {
    const fields = 'run_id status skipped_reason due_at started_at finished_at job_id version credits_used changed change_id';
    return { ...presentFields(row, fields), error: await errorOf(app, row) };
}

async function errorOf(app: App, { code, error, runId }: RunRow): Promise<MonitorRun['error']> {
    if (code === null) return null;
    const { message, ...extras } = await openError(app.secrets, error);
    return errorObject(new Refusal(code as RefusalCode, message, extras), runId, app.publicUrl());
}

/** A change as JSON text. The stored diff is inserted without parsing it. */
export async function writeChange({ secrets }: App, row: ChangeRow): Promise<string> {
    const diff = await openText(secrets, 'diff', row.diff);
    const head = JSON.stringify({ change_id: row.changeId, at: row.at.toISOString() });
    const tail = JSON.stringify({
        diff_truncated: row.diffTruncated || diff === undefined,
        before_run: row.beforeRun,
        after_run: row.afterRun,
    });
    return `${head.slice(0, -1)},"diff":${diff ?? '{"added":[],"removed":[],"changed":[]}'},${tail.slice(1)}`;
}
