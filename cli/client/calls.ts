import { Listing } from './listing.ts';
import type { ApiRequest, CallOptions, Transport } from './transport.ts';

/** A read, which may be sent again. */
export function reading(path: string): ApiRequest {
    return { method: 'GET', path, isRepeatable: true };
}

/** A write that leaves the same behind however often it is sent. */
export function writing(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string): ApiRequest {
    return { method, path, isRepeatable: true };
}

/** What stands in `data`. */
export async function data<Answer>(transport: Transport, request: ApiRequest, options?: CallOptions): Promise<Answer> {
    return (await transport.call<{ data: Answer }>(request, options)).data;
}

interface ListAnswer<Item> {
    data: Item[];
    meta: { pagination: { next_cursor: string | null; total: number } };
}

/** A list, page by page. */
export function listing<Item>(
    transport: Transport,
    path: string,
    query: NonNullable<ApiRequest['query']>,
    options?: CallOptions,
): Listing<Item> {
    return new Listing(async (cursor) => {
        const { data: items, meta } = await transport.call<ListAnswer<Item>>({ ...reading(path), query: { ...query, cursor } }, options);
        return { items, total: meta.pagination.total, nextCursor: meta.pagination.next_cursor };
    });
}
