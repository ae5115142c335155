import type { Batch, BatchStatus } from '../client/index.ts';
import type { Done, Session } from '../session.ts';
import { table } from '../table.ts';
import { isTimeKnown } from './follow-batch.ts';

/** `routebook batch list` */
export async function listBatches(
    { client, terminal: { paint } }: Session,
    { status, limit }: { status?: BatchStatus; limit: number },
): Promise<Done> {
    const { items: batches } = await client()
        .batches.list({ limit, ...(status === undefined ? {} : { status }) })
        .page();
    const result = { batches };
    if (batches.length === 0) return { result, lines: ['No batches.'] };
    const rows = batches.map((one) => [
        one.batch_id,
        one.status,
        one.counts.succeeded,
        one.counts.failed,
        one.counts.total,
        one.created_at,
        one.name,
    ]);
    return { result, lines: table(['batch', 'status', 'succeeded', 'failed', 'of', 'made', 'name'], rows, paint) };
}

/** `routebook batch show ID` */
export async function showBatch({ client, terminal: { paint } }: Session, batchId: string): Promise<Done> {
    return presentBatch(await client().batches.get(batchId), paint);
}

/** `routebook batch pause ID` */
export async function pauseBatch({ client, terminal: { paint } }: Session, batchId: string): Promise<Done> {
    return presentBatch(await client().batches.pause(batchId), paint);
}

export interface ResumeOptions {
    maxCredits?: number;
    stopAfterFailures?: number;
}

/** `routebook batch resume ID` */
export async function resumeBatch({ client }: Session, batchId: string, { maxCredits, stopAfterFailures }: ResumeOptions): Promise<Done> {
    const batch = await client().batches.resume(batchId, {
        ...(maxCredits === undefined ? {} : { max_credits: maxCredits }),
        ...(stopAfterFailures === undefined ? {} : { stop_after_failures: stopAfterFailures }),
    });
    return { result: batch, lines: [`It continues: routebook batch follow ${batchId}`] };
}

/** `routebook batch cancel ID` */
export async function cancelBatch({ client, terminal: { paint } }: Session, batchId: string): Promise<Done> {
    return presentBatch(await client().batches.cancel(batchId), paint);
}

/** `routebook batch retry ID` */
export async function retryBatch({ client }: Session, batchId: string, { code: codes }: { code?: string[] }): Promise<Done> {
    const batch = await client().batches.retry(batchId, codes === undefined ? {} : { codes });
    const again =
        batch.retried === 0 ? 'No items to retry.' : `${batch.retried.toLocaleString('en')} run again: routebook batch follow ${batchId}`;
    return { result: batch, lines: [again] };
}

function presentBatch(batch: Batch, paint: Session['terminal']['paint']): Done {
    const { counts, credits } = batch;
    const reason = batch.paused_reason === null ? '' : ` (${batch.paused_reason})`;
    const rows: [string, string][] = [
        ['batch', batch.batch_id],
        ...(batch.name === null ? [] : ([['name', batch.name]] as [string, string][])),
        ['status', `${batch.status}${reason}`],
        [
            'items',
            Object.entries(counts)
                .map(([name, items]) => `${items.toLocaleString('en')} ${name}`)
                .join(', '),
        ],
        ['credits', `${credits.used.toLocaleString('en')} used of at most ${credits.max.toLocaleString('en')}`],
        ...(batch.waiting_for === null ? [] : ([['waits for', batch.waiting_for]] as [string, string][])),
        ...(isTimeKnown(batch) ? ([['left', `about ${batch.eta_seconds} s`]] as [string, string][]) : []),
        ['expires', batch.expires_at],
    ];
    return { result: batch, lines: rows.map(([name, value]) => `${paint('dim', name.padEnd(12))}${value}`) };
}
