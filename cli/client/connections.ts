import { data, getRequest, listItems, Resource, writeRequest } from './calls.ts';
import type { Listing } from './listing.ts';
import type { CallOptions } from './transport.ts';
import type { AuthorizeAnswer, AuthorizeOrder, ConnectionDeleted, ConnectionEntry, ConnectionOrder, ConnectionPatch } from './types.ts';

/** Your own credentials for sites. Needs a key with the scope account; no answer ever shows a value. */
export class Connections extends Resource {
    /** Creates a connection. First tests it with the call that the schema names. @param test false: save it without the test */
    create(order: ConnectionOrder, { test = true, ...options }: CallOptions & { test?: boolean } = {}): Promise<ConnectionEntry> {
        const path = test ? '/v1/connections' : '/v1/connections?test=false';
        // Not repeatable: sent twice, it creates two connections.
        return data(this.transport, { ...writeRequest('POST', path), body: order, isRepeatable: false }, options);
    }

    /** Starts an OAuth consent: send the key's user to `authorize_url`. */
    authorize(order: AuthorizeOrder, options?: CallOptions): Promise<AuthorizeAnswer> {
        return data(this.transport, { ...writeRequest('POST', '/v1/connections/authorize'), body: order, isRepeatable: false }, options);
    }

    /** Newest first. */
    list(query: { site?: string; limit?: number } = {}, options?: CallOptions): Listing<ConnectionEntry> {
        return listItems(this.transport, '/v1/connections', query, options);
    }

    get(connectionId: string, options?: CallOptions): Promise<ConnectionEntry> {
        return data(this.transport, getRequest(pathOf(connectionId)), options);
    }

    /** Omitted fields are unchanged. */
    update(connectionId: string, change: ConnectionPatch, options?: CallOptions): Promise<ConnectionEntry> {
        return data(this.transport, { ...writeRequest('PATCH', pathOf(connectionId)), body: change }, options);
    }

    test(connectionId: string, options?: CallOptions): Promise<ConnectionEntry> {
        return data(this.transport, { ...writeRequest('POST', `${pathOf(connectionId)}/test`), isRepeatable: false }, options);
    }

    delete(connectionId: string, options?: CallOptions): Promise<ConnectionDeleted> {
        return data(this.transport, writeRequest('DELETE', pathOf(connectionId)), options);
    }
}

function pathOf(connectionId: string): string {
    return `/v1/connections/${encodeURIComponent(connectionId)}`;
}
