import type { Batch, BatchesQuery, EndedItem, ResultsQuery } from '../../../shared/contracts/batch-fields.ts';
import type { WaitQuery } from '../../../shared/contracts/jobs.ts';
import { type BatchRow, batchView } from '../../../shared/domain/jobs/batch-view.ts';
import { RESULTS_PAGE } from '../../../shared/domain/jobs/bounds.ts';
import { etaSeconds } from '../../../shared/domain/jobs/eta.ts';
import { isId } from '../../../shared/domain/text/ids.ts';
import type { Json } from '../../../shared/domain/types.ts';
import { presentJob, readerOf } from '../../../shared/fetch/present-job.ts';
import { PAGE_BYTES } from '../../../shared/platform/db.ts';
import type { PageOrder } from '../../../shared/platform/row-page.ts';
import { eachInTurn } from '../../../shared/platform/turns.ts';
import { Refusal } from '../../../shared/refusals.ts';
import type { Caller } from '../../../shared/store/accounts/callers.ts';
import { listBatches as batchesOf, findBatch } from '../../../shared/store/jobs/batches.ts';
import { type EndedRow, listEnded, STREAMED_BYTES } from '../../../shared/store/jobs/jobs.ts';
import { answerPage, textPage } from '../../answers/paging.ts';
import { checkKeyAgain } from '../../auth/api-key.ts';
import type { Call, Reply } from '../../call.ts';
import { waitForEnd } from '../wait-for-end.ts';
import { LINE_TYPES } from './line-types.ts';
import { windowsLeft } from './windows-left.ts';

export type OneBatch<Query = object, Body = undefined> = Call<{ batch_id: string }, Query, Body>;

/** GET /v1/batches/{batch_id}: returns at once, or with `wait` when the batch has ended. */
export async function readBatch(call: OneBatch<WaitQuery>): Promise<Reply<Batch>> {
    const { app, query, gone, endRead } = call;
    const row = await mustFindBatch(call);
    const { wait: seconds = 0 } = query;
    if (seconds === 0 || row.finishedAt !== null) return { answer: await viewOf(call, row) };
    const { accountId } = call.caller;
    endRead();
    await waitForEnd(app, { id: row.batchId, accountId, seconds, gone });
    const now = { ...call, caller: await checkKeyAgain(call) };
    return { answer: await viewOf(now, await mustFindBatch(now)) };
}

/** GET /v1/batches: newest first. */
export async function listBatches(call: Call<object, BatchesQuery, undefined>): Promise<Reply<Batch[]>> {
    const { app, query } = call;
    const { status } = query;
    const reader = readerOf(call.caller);
    const list = (page: PageOrder<number>) => batchesOf(app.browse, reader, { ...page, status });
    return answerPage(call, [reader.workspaceId, status ?? null], list, (rows) => viewsOf(call, rows));
}

/** GET /v1/batches/{batch_id}/results: the ended items, as a page or as ndjson. */
export async function readResults(call: OneBatch<ResultsQuery>): Promise<Reply<EndedItem[]>> {
    const { app, query, caller } = call;
    const batch = await mustFindBatch(call);
    const { batchId } = batch;
    const { status } = query;
    const bound: Json = ['getBatchResults', batchId, status ?? null];
    const from = query.after === undefined ? 0 : await app.cursors.open(bound, query.after);
    if (typeof from !== 'number') throw new Refusal('INVALID_CURSOR');
    const isStreamed = acceptsLines(call);
    const maxBytes = isStreamed ? STREAMED_BYTES : PAGE_BYTES;
    const readAs = (reader: Caller, after: number, limit: number) =>
        listEnded(app.browse, readerOf(reader), { batchId, status, after, limit, maxBytes });
    const read = (after: number, limit: number) => readAs(caller, after, limit);
    const cursorAt = await app.cursors.sealer(bound);
    const present = async (row: EndedRow) =>
        `${(await presentJob(app, row, { result: true })).slice(0, -1)},"cursor":"${cursorAt(row.endNumber)}"}`;
    if (isStreamed) {
        // A download may take minutes.
        const readAgain = async (after: number, limit: number) => readAs(await checkKeyAgain(call), after, limit);
        return { lines: resultLines(readAgain, present, { from, maxItems: query.limit ?? Number.POSITIVE_INFINITY, gone: call.gone }) };
    }

    const { limit = RESULTS_PAGE.fallback } = query;
    const rows = await read(from, limit);
    const last = rows.at(-1)?.endNumber ?? from;
    // The batch was read before its items, so if it had ended, no item can follow.
    const isAll = batch.finishedAt !== null && rows.length < limit && (await read(last, 1)).length === 0;
    const ended = batch.succeeded + batch.failed + batch.cancelled + batch.expired;
    const pagination = {
        limit,
        next_cursor: isAll ? null : cursorAt(last),
        total: status === undefined || status === 'queued' || status === 'running' ? ended : batch[status],
    };
    const items = await eachInTurn(rows, present);
    return textPage(items, pagination);
}

/** Whether `Accept` names ndjson and gives JSON no higher weight. Wildcards count for JSON only, because it is the default. */
function acceptsLines({ header }: OneBatch<ResultsQuery>): boolean {
    const types = (header('accept') ?? '').toLowerCase().split(',');
    const weightOf = (...names: string[]) => {
        const named = (name: string) => types.find((one) => one.split(';', 1)[0]?.trim() === name);
        const type = names.map(named).find((one) => one !== undefined);
        return type === undefined ? 0 : Number(/;\s*q=([\d.]+)/.exec(type)?.[1] ?? 1);
    };
    const weight = weightOf(...LINE_TYPES);
    return weight > 0 && weight >= weightOf('application/json', 'application/*', '*/*');
}

export async function mustFindBatch({ app, params, caller }: OneBatch<unknown, unknown>): Promise<BatchRow> {
    const id = params.batch_id;
    const row = isId('bat', id) ? await findBatch(app.db, readerOf(caller), id) : undefined;
    if (row === undefined) throw new Refusal('BATCH_NOT_FOUND');
    return row;
}

async function viewsOf({ app, caller }: Pick<OneBatch, 'app' | 'caller'>, rows: readonly BatchRow[]): Promise<Batch[]> {
    const windows = rows.some(({ status }) => status === 'running') ? await windowsLeft(app, caller) : [];
    return rows.map((row) => batchView(row, etaSeconds(row, caller.figures, windows)));
}

export async function viewOf(call: Pick<OneBatch, 'app' | 'caller'>, row: BatchRow): Promise<Batch> {
    const [view] = await viewsOf(call, [row]);
    return view as Batch;
}

/** Items of one query. */
const ROWS = 1000;
/** Characters of one write. A write of each line would take as long as its text. */
const WRITE = 64 * 1024;

/** Writes the ended items of a batch as lines, in pieces. The piece before an item that cannot be presented is written without it. */
export async function* resultLines<Row extends { endNumber: number }>(
    read: (after: number, limit: number) => Promise<Row[]>,
    present: (row: Row) => Promise<string>,
    { from, maxItems, gone }: { from: number; maxItems: number; gone: AbortSignal },
): AsyncGenerator<string> {
    let after = from;
    for (let left = maxItems; left > 0 && !gone.aborted; ) {
        const rows = await read(after, Math.min(left, ROWS));
        let piece = '';
        try {
            for (const row of rows) {
                piece += `${oneLine(await present(row))}\n`;
                if (piece.length < WRITE) continue;
                const full = piece;
                piece = '';
                yield full;
                if (gone.aborted) return;
            }
        } catch (error) {
            if (piece !== '') yield piece;
            throw error;
        }
        if (piece !== '') yield piece;
        const last = rows.at(-1);
        if (last === undefined) return;
        after = last.endNumber;
        left -= rows.length;
    }
}

/** Data keeps the text of the site, which may be indented. JSON has line breaks only between its tokens. */
function oneLine(json: string): string {
    return json.replaceAll(/[\r\n]+/g, ' ');
}
