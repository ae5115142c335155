import type { Identity } from '../../shared/domain/build-request.ts';
import type { Endpoint, UpstreamRequest, Values } from '../../shared/domain/types.ts';

/** How a kind of endpoint is called. Pure: what it plans is sent, read and billed by others. */
export interface Executor {
    /** The first request of a call. */
    plan(endpoint: Endpoint, values: Values, identity: Identity): UpstreamRequest;
}
