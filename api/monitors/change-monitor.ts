import type { FetchRequest } from '../../shared/contracts/fetch.ts';
import type { Monitor, MonitorChanges, MonitorParams } from '../../shared/contracts/monitor-fields.ts';
import { defined } from '../../shared/domain/defined.ts';
import { admitMonitor, callOf, nextRunOf, scheduleOf } from '../../shared/fetch/begin-monitor-run.ts';
import { trustedEffect } from '../../shared/fetch/check-rights.ts';
import { readerOf } from '../../shared/fetch/present-job.ts';
import type { Db } from '../../shared/platform/db.ts';
import { Refusal } from '../../shared/refusals.ts';
import {
    changeMonitor as change,
    findMonitor,
    lockMonitor,
    type MonitorFields,
    type MonitorRow,
} from '../../shared/store/monitors/monitors.ts';
import { sealText } from '../../shared/store/monitors/sealed.ts';
import { writeInTurn } from '../admission/writes.ts';
import type { Call, Reply } from '../call.ts';
import { checkFields, checkInterval, checkMonitorLimit, checkTakeover, timezoneOf } from './check-monitor.ts';
import { mustFindMonitor } from './monitors.ts';
import { presentMonitors } from './present-monitor.ts';

const OF_CALL = ['params', 'version', 'timeout_ms', 'max_results', 'max_pages', 'max_credits', 'connection'] as const;

/**
 * PATCH /v1/monitors/{monitor_id}: later runs use the calling key. Validates the call like a fetch, except if only status or name change.
 */
export async function changeMonitor(call: Call<MonitorParams, object, MonitorChanges>): Promise<Reply<Monitor>> {
    let before = await mustFindMonitor(call);
    for (;;) {
        checkFields(call.app, call.body, before);
        const answer = await changeFrom(call, before);
        if (answer !== undefined) return { answer };
        before = await mustFindMonitor(call);
    }
}

/** Validates the call before the monitor is locked. Undefined if another change came first and must be merged. */
async function changeFrom(
    { app, body, params, ...call }: Call<MonitorParams, object, MonitorChanges>,
    before: MonitorRow,
): Promise<Monitor | undefined> {
    const { caller } = call;
    const { name, every, cron, timezone, watch, identity, when, max_credits_per_day: perDay, metadata, status } = body;
    const fields: Partial<MonitorFields> = { keyId: caller.keyId, userId: caller.userId };
    if (name !== undefined) fields.name = name;
    if (watch !== undefined) fields.watch = watch;
    if (identity !== undefined) fields.identity = identity;
    if (when !== undefined) fields.notifyWhen = JSON.stringify(when);
    if (perDay !== undefined) fields.maxCreditsPerDay = perDay;
    if (metadata !== undefined) fields.metadata = JSON.stringify(metadata);
    if (every != null) Object.assign(fields, { every, cron: null, timezone: null, since: new Date(app.clock.now()) });
    if (cron != null) Object.assign(fields, { every: null, cron, timezone: timezoneOf(timezone, before) });
    const isTimezoneOnly = timezone != null && cron == null;
    if (isTimezoneOnly) fields.timezone = timezone;
    const isRescheduled = every != null || cron != null || isTimezoneOnly;

    const changed = OF_CALL.filter((field) => body[field] !== undefined);
    if (changed.length > 0 || status === 'active') {
        const given = Object.fromEntries(changed.map((field) => [field, body[field] ?? undefined]));
        const asked = defined<FetchRequest>({ ...(await callOf(app, before)), ...given });
        const { found, connection } = await admitMonitor(app, caller, asked, { isLater: true });
        fields.needs = await trustedEffect(app, found);
        fields.connectionId = connection?.connectionId ?? null;
        fields.ownerId = connection?.shared === false ? connection.ownerId : null;
        fields.request = await sealText(app.secrets, 'request', JSON.stringify(asked));
    }

    const store = async (trx: Db): Promise<Monitor | undefined> => {
        const locked = await lockMonitor(trx, params.monitor_id);
        if (locked === undefined) throw new Refusal('MONITOR_NOT_FOUND');
        await checkTakeover(trx, app, caller, locked);
        if (fields.request !== undefined && !locked.request.equals(before.request)) return undefined;
        const isKept = isTimezoneOnly || (cron != null && timezone === undefined);
        if (isKept && (locked.cron !== before.cron || locked.timezone !== before.timezone)) return undefined;
        if (isRescheduled || status === 'active') checkInterval(app, caller, scheduleOf({ ...locked, ...fields }));
        const isOther = (one: 'watch' | 'identity') => fields[one] !== undefined && fields[one] !== locked[one];
        if (body.params !== undefined || isOther('watch') || isOther('identity')) fields.base = locked.base + 1;
        if (status === 'paused') Object.assign(fields, { status, pausedReason: null, nextRunAt: null });
        const isResumed = status === 'active' && locked.status !== 'active';
        if (isResumed) Object.assign(fields, { status, pausedReason: null, failures: 0 });
        const isRunning = (fields.status ?? locked.status) !== 'paused';
        if (isRunning && (isResumed || isRescheduled)) fields.nextRunAt = nextRunOf(app, { ...locked, ...fields }, caller.plan);
        await change(trx, params.monitor_id, fields);
        if (isResumed) await checkMonitorLimit(trx, app, caller, { active: true });
        const row = await findMonitor(trx, readerOf(caller), params.monitor_id);
        if (row === undefined) throw new Refusal('MONITOR_NOT_FOUND');
        const [answer] = await presentMonitors(app, [row]);
        return answer;
    };
    return writeInTurn({ ...call, app, caller }, undefined, () => app.db.transaction(store));
}
