import type { Batch } from '../../../shared/contracts/batch-fields.ts';
import type { Job } from '../../../shared/contracts/jobs.ts';
import { defined } from '../../../shared/domain/defined.ts';
import { JOB_STATUSES } from '../../../shared/domain/jobs/states.ts';
import { listedJob, presentJob, readerOf } from '../../../shared/fetch/present-job.ts';
import { type EndedRow, failuresOf, listEnded, STREAMED_BYTES } from '../../../shared/store/jobs/jobs.ts';
import { openResult } from '../../../shared/store/jobs/sealed.ts';
import { keysToActWith, memberCaller } from '../callers.ts';
import { type Cell, csvLine, csvLineInParts } from '../csv.ts';
import type { Download } from '../download.ts';
import type { Notice } from '../notices.ts';
import type { Answer, Shown, WorkspaceVisit } from '../page.ts';
import { changeAs, dateOf, pagerOf, parseChoice, readData, readList } from '../read-api.ts';
import { forView as jobForView, ROWS, statusChoices } from './jobs.ts';

const PATH = '/dashboard/jobs/batches';

/** GET /dashboard/jobs/batches: newest first. */
export async function listBatches(visit: WorkspaceVisit): Promise<Shown> {
    const cursor = visit.query('cursor');
    const { items, next } = await readList<Batch>(visit, '/v1/batches', { cursor, limit: ROWS });
    return {
        view: 'jobs/batches',
        title: 'Batches',
        model: {
            batches: items.map(forView),
            ...pagerOf(PATH, {}, { cursor, next }),
        },
    };
}

/** GET /dashboard/jobs/batches/{batch_id}. @param problem the reason why a form had no effect */
export async function showBatch(visit: WorkspaceVisit, problem?: string): Promise<Shown> {
    const model = await progressOf(visit, problem);
    const { batch } = model;
    const status = problem === undefined ? 200 : 409;
    return { view: 'jobs/batch', title: batch.name ?? 'Batch', status, usesHtmx: true, model };
}

/** GET …/progress: the part of that page that updates itself. */
export async function showProgress(visit: WorkspaceVisit): Promise<Shown> {
    return { view: 'jobs/progress', title: 'Batch', model: await progressOf(visit) };
}

async function progressOf(visit: WorkspaceVisit, problem?: string) {
    const batch = await readBatch(visit);
    const [failures, keys] = await Promise.all([
        batch.counts.failed === 0 ? [] : failuresOf(visit.app.browse, readerOf(memberCaller(visit)), batch.batch_id),
        keysToActWith(visit),
    ]);
    return { batch: forView(batch), failures, keys, problem };
}

/** The batch of the path. @throws Refusal NOT_FOUND */
function readBatch(visit: WorkspaceVisit): Promise<Batch> {
    return readData(visit, `/v1/batches/${encodeURIComponent(visit.params['batch_id'] ?? '')}`);
}

/** GET …/items: the items of a batch, filtered by state. */
export async function showItems(visit: WorkspaceVisit): Promise<Shown> {
    const batch = await readBatch(visit);
    const status = parseChoice(JOB_STATUSES, visit.query('status'));
    const cursor = visit.query('cursor');
    const { batch_id: id } = batch;
    const { items, total, next } = await readList<Job>(visit, '/v1/jobs', { batch_id: id, status, cursor, limit: ROWS });
    return {
        view: 'jobs/items',
        title: 'Items of a batch',
        model: {
            batch: forView(batch),
            jobs: items.map(jobForView),
            total,
            typed: { status: status ?? '' },
            statuses: statusChoices(),
            ...pagerOf(`${PATH}/${id}/items`, { status }, { cursor, next }),
        },
    };
}

/** The forms' actions, each with the notice of the next page. `resume` and `retry` use the rights of the chosen key. */
const ACTS = {
    pause: { method: 'POST', path: '/pause', needsKey: false, notice: 'batch-paused' },
    resume: { method: 'POST', path: '/resume', needsKey: true, notice: 'batch-resumed' },
    retry: { method: 'POST', path: '/retry', needsKey: true, notice: 'batch-retried' },
    cancel: { method: 'DELETE', path: '', needsKey: false, notice: 'batch-cancelled' },
} as const satisfies Record<string, { method: 'POST' | 'DELETE'; path: string; needsKey: boolean; notice: Notice }>;

/** POST …/pause, …/resume, …/retry and …/cancel */
export async function actOnBatch(visit: WorkspaceVisit, act: keyof typeof ACTS): Promise<Answer> {
    const { method, path, needsKey, notice } = ACTS[act];
    const { batch_id: id } = await readBatch(visit);
    const call = { method, path: `/v1/batches/${id}${path}`, body: bodyOf(visit, act), needsKey };
    return changeAs(visit, call, { to: `${PATH}/${id}`, notice }, (problem) => showBatch(visit, problem));
}

function bodyOf({ fields }: WorkspaceVisit, act: keyof typeof ACTS): object | undefined {
    if (act === 'retry') {
        const code = fields.get('code') ?? '';
        return code === '' ? {} : { codes: [code] };
    }
    if (act !== 'resume') return undefined;
    return defined({ max_credits: numberIn(fields.get('max_credits')), stop_after_failures: numberIn(fields.get('stop')) });
}

/** Parses a number. Any other text goes to the API unchanged, which rejects it. */
function numberIn(text = ''): number | string | undefined {
    if (text.trim() === '') return undefined;
    return /^\d{1,13}$/.test(text.trim()) ? Number(text) : text;
}

function forView(batch: Batch) {
    const { counts } = batch;
    const ended = counts.succeeded + counts.failed + counts.cancelled + counts.expired;
    return {
        ...batch,
        ended,
        again: counts.failed + counts.cancelled + counts.expired,
        percent: counts.total === 0 ? 100 : Math.floor((ended * 100) / counts.total),
        createdAt: new Date(batch.created_at),
        finishedAt: dateOf(batch.finished_at),
        expiresAt: new Date(batch.expires_at),
    };
}

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
