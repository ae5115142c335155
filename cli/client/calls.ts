import { Listing } from './listing.ts';
import type { ApiRequest, CallOptions, Transport } from './transport.ts';

/** A read, which may be repeated. */
export function getRequest(path: string): ApiRequest {
    return { method: 'GET', path, isRepeatable: true };
}

/** An idempotent write, which may be repeated. */
export function writeRequest(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string): ApiRequest {
    return { method, path, isRepeatable: true };
}

export async function data<Answer>(transport: Transport, request: ApiRequest, options?: CallOptions): Promise<Answer> {
    return (await transport.call<{ data: Answer }>(request, options)).data;
}

interface ListAnswer<Item> {
    data: Item[];
    meta: { pagination: { next_cursor: string | null; total: number } };
}

export function listItems<Item>(
    transport: Transport,
    path: string,
    query: NonNullable<ApiRequest['query']>,
    options?: CallOptions,
    mayHaveGaps?: boolean,
): Listing<Item> {
    return new Listing(async (cursor) => {
        const { data: items, meta } = await transport.call<ListAnswer<Item>>({ ...getRequest(path), query: { ...query, cursor } }, options);
        return { items, total: meta.pagination.total, nextCursor: meta.pagination.next_cursor };
    }, mayHaveGaps);
}

/** Routes of one kind, such as jobs or webhooks. */
export abstract class Resource {
    protected readonly transport: Transport;

    constructor(transport: Transport) {
        this.transport = transport;
    }
}
