import type { Job, JobsQuery, WaitQuery } from '../../shared/contracts/jobs.ts';
import { hasJobEnded } from '../../shared/domain/jobs/states.ts';
import { readSite } from '../../shared/domain/site/read-site.ts';
import { isId } from '../../shared/domain/text/ids.ts';
import { listedJob, presentJob, readerOf } from '../../shared/fetch/present-job.ts';
import type { PageOrder } from '../../shared/platform/row-page.ts';
import { Refusal } from '../../shared/refusals.ts';
import { cancelJob as cancel } from '../../shared/store/jobs/ends.ts';
import { type FullJobRow, findJob, listJobs as jobsOf } from '../../shared/store/jobs/jobs.ts';
import { deleteResult as remove } from '../../shared/store/jobs/retention.ts';
import { listInTurn } from '../admission/long-lists.ts';
import { orderInTurn } from '../admission/writes.ts';
import { answerPage } from '../answers/paging.ts';
import { checkKeyAgain } from '../auth/api-key.ts';
import type { Call, Reply } from '../call.ts';
import { waitForEnd } from './wait-for-end.ts';

type JobCall<Query = object> = Call<{ job_id: string }, Query, undefined>;

/** GET /v1/jobs/{job_id}: returns at once, or with `wait` when the job ends or the time is up. */
export async function readJob(call: JobCall<WaitQuery>): Promise<Reply<never>> {
    const { app, query, params, gone, endRead } = call;
    const row = await mustFindJob(call);
    const { wait: seconds = 0 } = query;
    if (seconds === 0 || hasJobEnded(row.status)) return answer(call, row);
    const { accountId } = call.caller;
    endRead();
    await waitForEnd(app, { id: params.job_id, accountId, seconds, gone });
    return answer(call, await mustFindJob({ ...call, caller: await checkKeyAgain(call) }));
}

/** GET /v1/jobs: newest first. */
export async function listJobs(call: Call<object, JobsQuery, undefined>): Promise<Reply<Job[]>> {
    const { app, query, caller } = call;
    const site = query.site === undefined ? undefined : readSite(query.site, '/site').site;
    const { status, batch_id: batchId } = query;
    const reader = readerOf(caller);
    const about = [reader.workspaceId, status ?? null, site ?? null, batchId ?? null];
    const list = (page: PageOrder<number>) => listInTurn(call, () => jobsOf(app.browse, reader, { ...page, status, site, batchId }));
    return answerPage(call, about, list, (rows) => Promise.all(rows.map((row) => listedJob(app, row))));
}

/** DELETE /v1/jobs/{job_id}. @throws Refusal JOB_NOT_CANCELLABLE */
export async function cancelJob(call: JobCall): Promise<Reply<never>> {
    const { app, params } = call;
    await mustFindJob(call);
    const done = await orderInTurn(call, () => cancel(app.db, call.caller.workspaceId, params.job_id));
    if (done === 'not cancellable') throw new Refusal('JOB_NOT_CANCELLABLE');
    return answer(call, await mustFindJob(call));
}

/** DELETE /v1/jobs/{job_id}/result */
export async function deleteJobResult(call: JobCall): Promise<Reply<never>> {
    await mustFindJob(call);
    await orderInTurn(call, () => remove(call.app.db, call.caller.workspaceId, call.params.job_id));
    return answer(call, await mustFindJob(call));
}

async function mustFindJob({ app, params, caller }: JobCall<unknown>): Promise<FullJobRow> {
    const id = params.job_id;
    const row = isId('job', id) ? await findJob(app.db, readerOf(caller), id) : undefined;
    if (row === undefined) throw new Refusal('JOB_NOT_FOUND');
    return row;
}

async function answer({ app }: JobCall<unknown>, row: FullJobRow): Promise<Reply<never>> {
    return { text: `{"success":true,"data":${await presentJob(app, row, { params: true, result: true })}}`, isKept: false };
}
