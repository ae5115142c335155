import type { Job } from '../../../shared/contracts/jobs.ts';
import { listedJob, presentJob, readerOf } from '../../../shared/fetch/present-job.ts';
import { type EndedRow, listEnded, STREAMED_BYTES } from '../../../shared/store/jobs/jobs.ts';
import { openResult } from '../../../shared/store/jobs/sealed.ts';
import { memberCaller } from '../callers.ts';
import { type Cell, csvLine, csvLineInParts } from '../csv.ts';
import type { Download } from '../download.ts';
import type { WorkspaceVisit } from '../page.ts';
import { readBatch } from './batches.ts';

/** Maximum number of items per query. The query returns fewer if their results are large. */
const STEP = 200;

/** GET …/results.ndjson: each ended item once, in the format of the API. */
export async function downloadLines(visit: WorkspaceVisit): Promise<Download> {
    const { batch_id: id } = await readBatch(visit);
    return { file: `${id}.ndjson`, type: 'application/x-ndjson', lines: inLines(visit, id) };
}

async function* inLines(visit: WorkspaceVisit, batchId: string): AsyncGenerator<string> {
    let isEmpty = true;
    for await (const row of endedItems(visit, batchId)) {
        isEmpty = false;
        yield `${await presentJob(visit.app, row, { result: true })}\n`;
    }
    if (isEmpty) yield '';
}

/** GET …/results.csv: the same items as a table. One column contains the site's answer as JSON. */
export async function downloadCsv(visit: WorkspaceVisit): Promise<Download> {
    const { batch_id: id } = await readBatch(visit);
    return { file: `${id}.csv`, type: 'text/csv; charset=utf-8', lines: asTable(visit, id) };
}

/** The columns before the one with the result. */
const COLUMNS: Readonly<Record<string, (job: Job) => Cell>> = {
    job_id: (job) => job.job_id,
    custom_id: (job) => job.custom_id,
    status: (job) => job.status,
    site: (job) => job.site,
    endpoint: (job) => job.endpoint,
    version: (job) => job.version,
    attempts: (job) => job.attempts,
    credits_used: (job) => job.credits_used,
    finished_at: (job) => job.finished_at,
    code: (job) => job.error?.code,
    message: (job) => job.error?.message,
};

async function* asTable(visit: WorkspaceVisit, batchId: string): AsyncGenerator<string> {
    const { app } = visit;
    yield csvLine([...Object.keys(COLUMNS), 'result']);
    for await (const row of endedItems(visit, batchId)) {
        const job = await listedJob(app, row);
        const result = row.result === null ? undefined : await openResult(app.secrets, row.result, row.remaining ?? 0);
        const cells = Object.values(COLUMNS).map((read) => read(job));
        yield* csvLineInParts(cells, result ?? '');
    }
}

async function* endedItems(visit: WorkspaceVisit, batchId: string): AsyncGenerator<EndedRow> {
    const reader = readerOf(memberCaller(visit));
    for (let after = 0; !visit.gone.aborted; ) {
        const rows = await listEnded(visit.app.browse, reader, { batchId, after, limit: STEP, maxBytes: STREAMED_BYTES });
        yield* rows;
        const last = rows.at(-1);
        if (last === undefined) return;
        after = last.endNumber;
    }
}
