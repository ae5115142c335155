import { type IDataObject, type IExecuteFunctions, type INodeExecutionData, NodeOperationError } from 'n8n-workflow';
import { type Answer, call, refusalError } from './call';
import { callOf } from './fetch';

interface Batch {
    batch_id: string;
    status: string;
    paused_reason: string | null;
    counts: { running: number };
}

interface Ended {
    custom_id: string;
    status: string;
    result: IDataObject | null;
    error: { code: string; message: string } | null;
}

/** Items of one page of results, and seconds that one read waits for the end. */
const PAGE = 200;
const WAIT_S = 5;

/** The maximum number of results per item. A retried item has several. */
const MAX_RESULTS = 10;

/** Runs one batch of all input items, which Routebook paces and retries. Returns one output item for each. */
export async function runBatch(functions: IExecuteFunctions): Promise<INodeExecutionData[]> {
    const options = functions.getNodeParameter('batchOptions', 0, {}) as IDataObject;
    const items = functions.getInputData().map((_input, item) => ({ ...callOf(functions, item), custom_id: String(item) }));
    const { data: batch } = await call<Batch>(functions, 0, { method: 'POST', path: '/v1/batches', body: { ...options, items } });
    const path = `/v1/batches/${batch.batch_id}`;
    const ended: INodeExecutionData[] = [];
    const maxResults = MAX_RESULTS * items.length;
    for (let after: string | undefined; ; ) {
        const page = (await call<Ended[]>(functions, 0, {
            method: 'GET',
            path: `${path}/results`,
            qs: { limit: PAGE, after },
        })) as Answer<Ended[]> & { meta: { pagination: { next_cursor: string | null } } };
        for (const one of page.data) ended.push(outputOf(functions, one));
        if (page.meta.pagination.next_cursor === null) break;
        if (ended.length > maxResults) throw new NodeOperationError(functions.getNode(), 'The results in the answers do not end.');
        after = page.meta.pagination.next_cursor;
        if (page.data.length === 0) await untilMore(functions, path);
    }
    return ended.sort((one, other) => itemOf(one) - itemOf(other));
}

/** Waits once for the end of the batch. @throws if the batch is paused */
async function untilMore(functions: IExecuteFunctions, path: string): Promise<void> {
    const { data: batch } = await call<Batch>(functions, 0, { method: 'GET', path, qs: { wait: WAIT_S } });
    if (batch.status !== 'paused' || batch.counts.running > 0) return;
    const why = batch.paused_reason === null ? '' : ` (${batch.paused_reason})`;
    throw refusalError(functions, 0, { code: 'BATCH_PAUSED', message: `${batch.batch_id} is paused${why}. Resume it in the dashboard.` });
}

function outputOf(functions: IExecuteFunctions, { custom_id: id, status, result, error }: Ended): INodeExecutionData {
    const item = Number(id);
    if (result !== null)
        return { json: { data: result['data'] as IDataObject, meta: result['meta'] as IDataObject }, pairedItem: { item } };
    const refusal = error ?? { code: status.toUpperCase(), message: `The call is ${status}.` };
    if (!functions.continueOnFail()) throw refusalError(functions, item, refusal);
    return { json: { error: `${refusal.code}: ${refusal.message}` }, pairedItem: { item } };
}

function itemOf({ pairedItem }: INodeExecutionData): number {
    return (pairedItem as { item: number }).item;
}
