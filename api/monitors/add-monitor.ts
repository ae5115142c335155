import type { FetchRequest } from '../../shared/contracts/fetch.ts';
import type { Monitor, MonitorOrder } from '../../shared/contracts/monitor-fields.ts';
import { newId } from '../../shared/domain/text/ids.ts';
import { admitMonitor, nextRunOf, scheduleOf } from '../../shared/fetch/begin-monitor-run.ts';
import { trustedEffect } from '../../shared/fetch/check-rights.ts';
import { readerOf } from '../../shared/fetch/present-job.ts';
import type { Db } from '../../shared/platform/db.ts';
import { findMonitor, type NewMonitor, addMonitor as store } from '../../shared/store/monitors/monitors.ts';
import { sealText } from '../../shared/store/monitors/sealed.ts';
import { writeInTurn } from '../admission/writes.ts';
import type { Call, Reply } from '../call.ts';
import { checkFields, checkInterval, checkMonitorLimit } from './check-monitor.ts';
import { presentMonitors } from './present-monitor.ts';

/** POST /v1/monitors: validates the call like a fetch. With `every` the first run starts at once, with `cron` at the next matching time. */
export async function addMonitor(call: Call<object, object, MonitorOrder>): Promise<Reply<Monitor>> {
    const { app, body, caller } = call;
    checkFields(app, body);
    const {
        name = null,
        every = null,
        cron = null,
        timezone,
        watch = null,
        identity = null,
        when = 'changed',
        max_credits_per_day: maxCreditsPerDay = null,
        metadata = {},
        ...asked
    } = body;
    const { found, connection } = await admitMonitor(app, caller, asked as FetchRequest, { isLater: true });
    const times = { every, cron, timezone: cron === null ? null : (timezone ?? 'UTC') };
    checkInterval(app, caller, scheduleOf(times));
    const now = new Date(app.clock.now());
    const monitorId = newId('mon');
    const monitor: NewMonitor = {
        ...times,
        monitorId,
        workspaceId: caller.workspaceId,
        keyId: caller.keyId,
        userId: caller.userId,
        name,
        site: found.site,
        endpoint: found.endpoint.name,
        needs: await trustedEffect(app, found),
        connectionId: connection?.connectionId ?? null,
        ownerId: connection?.shared === false ? connection.ownerId : null,
        request: await sealText(app.secrets, 'request', JSON.stringify({ ...asked, site: found.site })),
        watch,
        identity,
        notifyWhen: JSON.stringify(when),
        maxCreditsPerDay,
        metadata: JSON.stringify(metadata),
        status: 'active',
        pausedReason: null,
        base: 1,
        failures: 0,
        since: now,
        createdAt: now,
        nextRunAt: every === null ? nextRunOf(app, { ...times, monitorId, since: now, failures: 0 }, caller.plan) : now,
    };
    const add = async (trx: Db): Promise<Reply<Monitor>> => {
        await store(trx, monitor);
        await checkMonitorLimit(trx, app, caller, { active: false });
        const row = await findMonitor(trx, readerOf(caller), monitorId);
        if (row === undefined) throw new Error('a monitor that was just stored is not there');
        const [answer] = await presentMonitors(app, [row]);
        return { answer: answer as Monitor, headers: { location: `/v1/monitors/${monitorId}` } };
    };
    return writeInTurn(call, undefined, () => app.db.transaction(add));
}
