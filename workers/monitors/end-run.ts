import type { App } from '../../shared/app.ts';
import { newId } from '../../shared/domain/text/ids.ts';
import type { JsonObject } from '../../shared/domain/types.ts';
import { splitResult } from '../../shared/fetch/answer-text.ts';
import { openCall, UNREADABLE } from '../../shared/fetch/begin-monitor-run.ts';
import { findCallerById } from '../../shared/store/accounts/callers.ts';
import { recordEvent } from '../../shared/store/events/events.ts';
import { openResult, sealError } from '../../shared/store/jobs/sealed.ts';
import { lockMonitor, type MonitorRow } from '../../shared/store/monitors/monitors.ts';
import { type EndedRun, isMajorBetween, pauseMonitor, type RunEnd, valueBefore, writeRunEnd } from '../../shared/store/monitors/runs.ts';
import { openText, sealText } from '../../shared/store/monitors/sealed.ts';
import { createReadingTurn, type Reader } from '../select/reader.ts';
import type { Watched } from '../select/watched.ts';
import { PAUSES } from './begin-due-run.ts';
import { countFailure, countSuccess } from './run-health.ts';

interface Failure {
    code: string;
    message: string;
}

/** How long a result may wait for its comparison. Shorter than a claim lasts. */
const PATIENCE_MS = 15_000;

/** Ends a run whose job has ended: compares it with the previous run, and records the change and its event in one transaction. */
export async function endRun(app: App, reader: Reader, run: EndedRun): Promise<void> {
    const monitor = await lockMonitor(app.db, run.monitorId);
    if (monitor === undefined) return;
    if (run.jobStatus === 'cancelled' || run.jobStatus === null) return endCancelled(app, run);
    const before = await baseOf(app, run, monitor);
    const watched = await watch(app, reader, run, monitor, before?.text);
    const failure = 'code' in watched ? watched : undefined;
    const seen = 'code' in watched ? undefined : watched;
    const changeId = newId('chg');
    const end = await endOf(app, run, watched, before === undefined ? undefined : { runId: before.runId, changeId });
    await app.db.transaction(async (trx) => {
        const locked = await lockMonitor(trx, run.monitorId);
        if (locked === undefined || !(await writeRunEnd(trx, run, end))) return;
        if (failure !== undefined) {
            await countFailure(trx, app, locked, run.dueAt, failure.code);
            const paused = PAUSES[failure.code];
            if (paused !== undefined) await pauseMonitor(trx, run.monitorId, paused);
            return;
        }
        await countSuccess(trx, app, locked, run.dueAt);
        // The call was changed during the run.
        if (seen?.isTold !== true || before === undefined || locked.base !== run.base) return;
        const isChanged = seen.diff !== undefined;
        const data: JsonObject = {
            monitor_id: run.monitorId,
            name: locked.name,
            metadata: JSON.parse(locked.metadata),
            site: locked.site,
            endpoint: locked.endpoint,
            version: run.version,
            changed: isChanged,
            change_id: isChanged ? changeId : null,
            before_run: before.runId,
            after_run: run.runId,
            ...countsOf(seen),
        };
        await recordEvent(trx, {
            type: 'monitor.changed',
            workspaceId: locked.workspaceId,
            data,
            // Only the owner of a private connection may read the content.
            ...(isChanged && locked.ownerId === null ? { about: changeId } : {}),
        });
    });
}

function countsOf({ diff, isTruncated }: Watched): JsonObject {
    const { added = [], removed = [], changed = [] } = diff === undefined ? {} : (JSON.parse(diff) as Record<string, unknown[]>);
    return { added: added.length, removed: removed.length, entries_changed: changed.length, diff_truncated: isTruncated };
}

async function endOf(
    app: App,
    run: EndedRun,
    watched: Watched | Failure,
    compared: { runId: string; changeId: string } | undefined,
): Promise<RunEnd> {
    if ('code' in watched) {
        const { code, message } = watched;
        const error = run.jobStatus === 'failed' && run.error !== null ? run.error : await sealError(app.secrets, { message });
        return { status: 'failed', code, error };
    }
    const { text, diff, isTruncated } = watched;
    const change =
        compared === undefined || diff === undefined
            ? undefined
            : { changeId: compared.changeId, diff: await sealText(app.secrets, 'diff', diff), isTruncated, beforeRun: compared.runId };
    const changed = compared === undefined ? null : diff !== undefined;
    return { status: 'succeeded', value: await sealText(app.secrets, 'value', text), changed, change };
}

/** The previous value; undefined if the call was changed, a major version was published, or the value can no longer be decrypted. */
async function baseOf(app: App, run: EndedRun, { site, base }: MonitorRow): Promise<{ runId: string; text: string } | undefined> {
    if (base !== run.base) return undefined;
    const before = await valueBefore(app.db, run);
    if (before === undefined || (await isMajorBetween(app.db, site, before.version, run.version))) return undefined;
    const text = await openText(app.secrets, 'value', before.value);
    return text === undefined ? undefined : { runId: before.runId, text };
}

async function watch(app: App, reader: Reader, run: EndedRun, monitor: MonitorRow, before?: string): Promise<Watched | Failure> {
    if (run.jobStatus === 'expired') return { code: 'DEADLINE_EXCEEDED', message: 'The run expired before it started.' };
    if (run.jobStatus === 'failed') return { code: run.code ?? 'INTERNAL', message: '' };
    const result = run.result === null ? undefined : await openResult(app.secrets, run.result, run.remaining ?? 0);
    const parts = result === undefined ? undefined : splitResult(result);
    if (parts === undefined) return { code: 'INTERNAL', message: 'The result of this run was deleted before it was compared.' };
    const cut = await cutOf(app, run, monitor, JSON.parse(parts.meta));
    if (cut !== undefined) return cut;
    const order = { data: parts.data, before, watch: monitor.watch, identity: monitor.identity, when: JSON.parse(monitor.notifyWhen) };
    const seen = await reader.watch(order, createReadingTurn(monitor.workspaceId, Date.now() + PATIENCE_MS));
    // Not a fault of the monitor: the claim expires and the result is compared later.
    if (!seen.ok && seen.code === 'UPSTREAM_TIMEOUT') throw new Error('The result waited too long to be compared.');
    return seen.ok ? seen : { code: seen.code, message: seen.message };
}

interface Meta {
    truncated?: boolean;
    results?: number;
    pagination_end?: string;
    partial_error?: { code: string; message: string };
}

/** A result that is incomplete, for lack of credits or after a failed page, cannot be compared. */
async function cutOf(app: App, run: EndedRun, monitor: MonitorRow, meta: Meta): Promise<Failure | undefined> {
    if (meta.partial_error !== undefined) return { code: meta.partial_error.code, message: meta.partial_error.message };
    const call = await openCall(app, monitor);
    if (call === undefined) return { code: 'INTERNAL', message: UNREADABLE };
    const version = run.versionId === null ? undefined : await app.versions.load(run.versionId);
    const billing = version?.endpoints.get(monitor.endpoint)?.billing;
    const max = Math.min(billing?.maxResults ?? 0, call.max_results ?? Number.POSITIVE_INFINITY);
    const isShort = meta.truncated === true && billing?.unit === 'result' && meta.pagination_end === undefined && (meta.results ?? 0) < max;
    if (!isShort && meta.pagination_end !== 'credits') return undefined;
    return { code: 'INSUFFICIENT_CREDITS', message: 'The credits were not enough for the complete answer.' };
}

/** Ends a run whose job was cancelled, by a user or because its key no longer works. */
async function endCancelled(app: App, run: EndedRun): Promise<void> {
    await app.db.transaction(async (trx) => {
        const monitor = await lockMonitor(trx, run.monitorId);
        if (monitor === undefined || !(await writeRunEnd(trx, run, { status: 'skipped', reason: 'cancelled' }))) return;
        const caller = await findCallerById(trx, monitor.keyId);
        if (caller === undefined || caller.suspended) await pauseMonitor(trx, run.monitorId, 'key');
    });
}
