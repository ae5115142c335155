import type { Monitor, MonitorChange, MonitorParams, MonitorRun, MonitorsQuery } from '../../shared/contracts/monitor-fields.ts';
import type { PageQuery } from '../../shared/contracts/vocabulary.ts';
import { isId } from '../../shared/domain/text/ids.ts';
import { readerOf } from '../../shared/fetch/present-job.ts';
import type { Db } from '../../shared/platform/db.ts';
import type { FoundPage, PageOrder } from '../../shared/platform/row-page.ts';
import { eachInTurn } from '../../shared/platform/turns.ts';
import { Refusal } from '../../shared/refusals.ts';
import { cancelJob } from '../../shared/store/jobs/ends.ts';
import * as store from '../../shared/store/monitors/monitors.ts';
import { runningJob } from '../../shared/store/monitors/runs.ts';
import { readPage, textPage } from '../answers/paging.ts';
import type { Call, Reply } from '../call.ts';
import { presentMonitors, presentRun, writeChange, writeMonitors } from './present-monitor.ts';

type MonitorCall<Query = object> = Call<MonitorParams, Query, undefined>;

/** GET /v1/monitors */
export async function listMonitors(call: Call<object, MonitorsQuery, undefined>): Promise<Reply<Monitor[]>> {
    const { app, query } = call;
    const reader = readerOf(call.caller);
    const page = await readPage<number>(call, [reader.workspaceId, query.status ?? null]);
    const { rows, next, total } = await store.listMonitors(app.browse, reader, { ...page, status: query.status });
    return textPage(await writeMonitors(app, rows), await page.end(next, total));
}

/** GET /v1/monitors/{monitor_id} */
export async function readMonitor(call: MonitorCall): Promise<Reply<Monitor>> {
    const [answer] = await presentMonitors(call.app, [await mustFindMonitor(call)]);
    return { answer: answer as Monitor };
}

/** DELETE /v1/monitors/{monitor_id}: cancels an unfinished run, which is not billed. */
export async function deleteMonitor(call: MonitorCall): Promise<Reply<{ monitor_id: string; deleted: true }>> {
    const { db } = call.app;
    const { monitorId, workspaceId } = await mustFindMonitor(call);
    const job = await db.transaction(async (trx) => {
        // No run begins after this lock.
        if ((await store.lockMonitor(trx, monitorId)) === undefined) throw new Refusal('MONITOR_NOT_FOUND');
        const running = await runningJob(trx, monitorId);
        await store.deleteMonitor(trx, monitorId);
        return running;
    });
    if (job !== undefined) await cancelJob(db, workspaceId, job);
    return { answer: { monitor_id: monitorId, deleted: true } };
}

/** GET /v1/monitors/{monitor_id}/changes */
export async function listChanges(call: MonitorCall<PageQuery>): Promise<Reply<MonitorChange[]>> {
    return list(call, store.listChanges, (row) => writeChange(call.app, row));
}

/** GET /v1/monitors/{monitor_id}/runs */
export async function listRuns(call: MonitorCall<PageQuery>): Promise<Reply<MonitorRun[]>> {
    return list(call, store.listRuns, async (row) => JSON.stringify(await presentRun(call.app, row)));
}

type Lister<Row> = (db: Db, id: string, page: PageOrder<number>) => Promise<FoundPage<Row, number>>;

async function list<Row>(
    call: MonitorCall<PageQuery>,
    read: Lister<Row>,
    write: (row: Row) => Promise<string>,
): Promise<{ text: string; isKept: false }> {
    const { monitorId } = await mustFindMonitor(call);
    const page = await readPage<number>(call, monitorId);
    const { rows, next, total } = await read(call.app.db, monitorId, page);
    return textPage(await eachInTurn(rows, write), await page.end(next, total));
}

export async function mustFindMonitor({ app, params, caller }: Call<MonitorParams, unknown, unknown>): Promise<store.MonitorRow> {
    const id = params.monitor_id;
    const row = isId('mon', id) ? await store.findMonitor(app.db, readerOf(caller), id) : undefined;
    if (row === undefined) throw new Refusal('MONITOR_NOT_FOUND');
    return row;
}
