import { defined } from '../../shared/domain/defined.ts';
import { fieldLines, table } from '../../shared/platform/table.ts';
import type { Batch, BatchStatus } from '../client/index.ts';
import { formatSeconds } from '../format-seconds.ts';
import type { Done, Session } from '../session.ts';
import { PROGRAM } from '../settings.ts';
import { isTimeKnown } from './follow-batch.ts';

export async function listBatches(
    { client, terminal }: Session,
    { status, limit }: { status?: BatchStatus; limit: number },
): Promise<Done> {
    const { items: batches } = await client().batches.list(defined({ limit, status })).page();
    const result = { batches };
    if (batches.length === 0) return { result, lines: ['No batches.', `Start one: ${PROGRAM} batch run FILE --site SITE --endpoint NAME`] };
    const rows = batches.map((one) => [
        one.batch_id,
        one.status,
        one.counts.total,
        one.counts.failed,
        one.name,
        one.created_at,
        one.counts.succeeded,
    ]);
    return { result, lines: table(['batch', 'status', 'items', 'failed', 'name', 'created', 'succeeded'], rows, terminal) };
}

/** Shows a batch, or changes it and shows the result. */
export function actOnBatch(act: 'get' | 'pause' | 'cancel') {
    return async ({ client, terminal }: Session, batchId: string): Promise<Done> =>
        presentBatch(await client().batches[act](batchId), terminal);
}

interface ResumeOptions {
    maxCredits?: number;
    stopAfterFailures?: number;
}

export async function resumeBatch({ client }: Session, batchId: string, { maxCredits, stopAfterFailures }: ResumeOptions): Promise<Done> {
    const limits = defined({ max_credits: maxCredits, stop_after_failures: stopAfterFailures });
    const batch = await client().batches.resume(batchId, limits);
    return { result: batch, lines: [`The batch continues. Follow it: ${PROGRAM} batch follow ${batchId}`] };
}

export async function retryBatch({ client }: Session, batchId: string, { code: codes }: { code?: string[] }): Promise<Done> {
    const batch = await client().batches.retry(batchId, defined({ codes }));
    const again =
        batch.retried === 0
            ? 'No items to retry.'
            : `${batch.retried.toLocaleString('en')} run again. Follow them: ${PROGRAM} batch follow ${batchId}`;
    return { result: batch, lines: [again] };
}

function presentBatch(batch: Batch, terminal: Session['terminal']): Done {
    const { counts, credits } = batch;
    const reason = batch.paused_reason === null ? '' : ` (${batch.paused_reason})`;
    const items = Object.entries(counts).map(([name, count]) => `${count.toLocaleString('en')} ${name}`);
    const fields = [
        ['batch', batch.batch_id],
        ['name', batch.name],
        ['status', `${batch.status}${reason}`],
        ['items', items.join(', ')],
        ['credits', `${credits.used.toLocaleString('en')} used of at most ${credits.max.toLocaleString('en')}`],
        ['waits for', batch.waiting_for],
        ['left', isTimeKnown(batch) ? `about ${formatSeconds(batch.eta_seconds ?? 0)}` : null],
        ['expires', batch.expires_at],
    ] as const;
    return { result: batch, lines: fieldLines(fields, terminal) };
}
