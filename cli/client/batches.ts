import { data, getRequest, listItems, Resource, writeRequest } from './calls.ts';
import { wait } from './deadline.ts';
import { RoutebookError } from './errors.ts';
import type { Listing } from './listing.ts';
import { type CallOptions, withDigits } from './transport.ts';
import type { Batch, BatchDryRun, BatchesQuery, BatchFields, BatchItem, CallValue, EndedItem, JobStatus } from './types.ts';

export type BatchOrder = BatchFields & {
    items: readonly (Omit<BatchItem, 'params'> & { params?: { [name: string]: CallValue } })[];
};

export interface FollowOptions extends CallOptions {
    status?: JobStatus;
    /** The cursor of the last item that was read. */
    after?: string;
    /** Called with the batch from time to time. */
    onProgress?: (batch: Batch) => void;
}

/** Items of one page of results, and how long to wait if there are none, in milliseconds. */
const PAGE = 200;
const PAUSE_MS = 1000;
/** Larger batches are sent as ndjson. A JSON body has at most 8 MiB, with the other fields of the batch. */
const MAX_AS_JSON = { items: 10_000, bytes: 8_000_000 };

/** Batches of calls, which Routebook paces, retries and stores. The key needs the scope jobs. */
export class Batches extends Resource {
    /** Creates a batch. All items are validated first; one invalid item rejects the batch. */
    create(order: BatchOrder, options?: CallOptions): Promise<Batch> {
        return data(this.transport, orderOf(order, {}), options);
    }

    /** Validates and prices all items and creates nothing. */
    dryRun(order: BatchOrder, options?: CallOptions): Promise<BatchDryRun> {
        return data(this.transport, orderOf(order, { dry_run: true }), options);
    }

    /** Creates a batch and yields each item when it ends: `for await (const item of batches.run({…}))`. */
    async *run(order: BatchOrder, options: FollowOptions = {}): AsyncGenerator<EndedItem, void, undefined> {
        const { status: _, after: __, onProgress, ...call } = options;
        const batch = await this.create(order, call);
        onProgress?.(batch);
        yield* this.follow(batch.batch_id, options);
    }

    /** Yields each item when it ends: of a retried one keep the latest of its `job_id`. @throws RoutebookError BATCH_PAUSED */
    async *follow(
        batchId: string,
        { status, after, onProgress, ...options }: FollowOptions = {},
    ): AsyncGenerator<EndedItem, void, undefined> {
        for (let cursor = after; ; ) {
            const page = await this.results(batchId, { status, after: cursor, limit: PAGE }, options);
            yield* page.items;
            if (page.nextCursor === null) {
                onProgress?.(await this.get(batchId, {}, options));
                return;
            }
            cursor = page.nextCursor;
            if (page.items.length > 0 && onProgress === undefined) continue;
            const batch = await this.get(batchId, {}, options);
            onProgress?.(batch);
            if (page.items.length > 0) continue;
            if (batch.status === 'paused' && batch.counts.running === 0) throw pausedError(batch);
            await wait(PAUSE_MS, options.signal);
            options.signal?.throwIfAborted();
        }
    }

    /** One page of ended items; `nextCursor` is null only when the batch has ended and everything was read. */
    results(
        batchId: string,
        query: { status?: JobStatus | undefined; after?: string | undefined; limit?: number } = {},
        options?: CallOptions,
    ): Promise<{ items: EndedItem[]; nextCursor: string | null }> {
        return listItems<EndedItem>(this.transport, `${pathOf(batchId)}/results`, { ...query }, options).page();
    }

    /** @param wait seconds to wait for its end */
    get(batchId: string, { wait }: { wait?: number } = {}, options?: CallOptions): Promise<Batch> {
        return data(this.transport, { ...getRequest(pathOf(batchId)), query: { wait } }, options);
    }

    /** Newest first. */
    list(query: Omit<BatchesQuery, 'cursor'> = {}, options?: CallOptions): Listing<Batch> {
        return listItems(this.transport, '/v1/batches', { ...query }, options);
    }

    pause(batchId: string, options?: CallOptions): Promise<Batch> {
        return data(this.transport, writeRequest('POST', `${pathOf(batchId)}/pause`), options);
    }

    /** Resumes it with the rights of this key and optional new limits. */
    resume(batchId: string, limits: Pick<BatchFields, 'max_credits' | 'stop_after_failures'> = {}, options?: CallOptions): Promise<Batch> {
        return data(this.transport, { ...writeRequest('POST', `${pathOf(batchId)}/resume`), body: limits }, options);
    }

    /** Retries items that did not succeed: all, or those that failed with one of these codes. */
    retry(batchId: string, { codes }: { codes?: string[] } = {}, options?: CallOptions): Promise<Batch & { retried: number }> {
        const body = codes === undefined ? {} : { codes };
        return data(this.transport, { ...writeRequest('POST', `${pathOf(batchId)}/retry`), body }, options);
    }

    cancel(batchId: string, options?: CallOptions): Promise<Batch> {
        return data(this.transport, writeRequest('DELETE', pathOf(batchId)), options);
    }
}

/** Builds the request. Too many or too large items for JSON are sent as ndjson, with the other fields in the query. */
function orderOf({ items, ...fields }: BatchOrder, query: { dry_run?: true }) {
    const request = writeRequest('POST', '/v1/batches');
    if (fitsJson(items)) return { ...request, query, body: { ...fields, items } };
    const { defaults = {}, metadata, ...others } = fields;
    // The query has no parameter for the max_credits of items.
    const { max_credits: each, ...ofItems } = defaults;
    return {
        ...request,
        query: { ...query, ...others, ...ofItems, metadata: metadata === undefined ? undefined : JSON.stringify(metadata) },
        lines: each === undefined ? items : items.map((item) => ({ max_credits: each, ...item })),
    };
}

function fitsJson(items: BatchOrder['items']): boolean {
    if (items.length > MAX_AS_JSON.items) return false;
    const encoder = new TextEncoder();
    let bytes = 0;
    for (const item of items) {
        bytes += encoder.encode(JSON.stringify(item, withDigits)).length + 1;
        if (bytes > MAX_AS_JSON.bytes) return false;
    }
    return true;
}

function pausedError(batch: Batch): RoutebookError {
    const why = batch.paused_reason === null ? '' : ` (${batch.paused_reason})`;
    return new RoutebookError({
        code: 'BATCH_PAUSED',
        message: `The batch ${batch.batch_id} is paused${why}: resume it, then follow it again.`,
    });
}

function pathOf(batchId: string): string {
    return `/v1/batches/${encodeURIComponent(batchId)}`;
}
