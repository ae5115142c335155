import type { TrendingWindow } from '../../shared/domain/package/registry-choices.ts';
import { Batches } from './batches.ts';
import { data, getRequest, listItems, Resource } from './calls.ts';
import { Connections } from './connections.ts';
import { Jobs } from './jobs.ts';
import type { Listing } from './listing.ts';
import { Monitors } from './monitors.ts';
import { Claims, Keys, Policies } from './owners.ts';
import { Maintainers, Requests, Schemas } from './resources.ts';
import { type CallOptions, type RoutebookOptions, Transport } from './transport.ts';
import type {
    AccountAnswer,
    AuditEntry,
    AuditQuery,
    CatalogAnswer,
    Category,
    EndpointsQuery,
    ErrorEntry,
    FetchAnswer,
    FetchOrder,
    FindAnswer,
    HealthAnswer,
    JsonObject,
    TrendingAnswer,
    UnavailableHealth,
} from './types.ts';
import { Events, Webhooks } from './webhooks.ts';

export interface FetchOptions extends CallOptions {
    /** The `session_id` of the preceding look-up. */
    sessionId?: string;
}

/** Milliseconds that are added to the `timeout_ms` of a fetch, so that the answer can arrive. */
const FETCH_GRACE = 10_000;

/**
 * A typed client of Routebook's API (docs/api.md). Each method returns the `data` of the answer and rejects with a `RoutebookError`.
 * Retryable errors are retried. Fetches and other writes carry an Idempotency-Key, so the server does and charges them only once even if
 * they are sent again.
 */
export class Routebook extends Resource {
    readonly schemas = new Schemas(this.transport);
    readonly maintainers = new Maintainers(this.transport);
    readonly requests = new Requests(this.transport);
    readonly claims = new Claims(this.transport);
    readonly policies = new Policies(this.transport);
    readonly keys = new Keys(this.transport);
    readonly connections = new Connections(this.transport);
    readonly jobs = new Jobs(this.transport);
    readonly batches = new Batches(this.transport);
    readonly monitors = new Monitors(this.transport);
    readonly webhooks = new Webhooks(this.transport);
    readonly events = new Events(this.transport);

    constructor(options: RoutebookOptions) {
        super(new Transport(options));
    }

    /** Finds endpoints of all sites, best first. `fetch` of one with an example is a body of `fetch()`. @param task 3 to 1000 characters */
    find(task: string, query: Omit<EndpointsQuery, 'task'> = {}, options?: CallOptions): Promise<FindAnswer> {
        return this.transport.call({ ...getRequest('/v1/endpoints'), query: { task, ...query } }, options);
    }

    /** Lists every endpoint of a site, best matches of the intent first. @param intent at least 20 characters and 5 distinct words */
    catalog(domain: string, { intent }: { intent: string }, options?: CallOptions): Promise<CatalogAnswer> {
        return this.transport.call({ ...getRequest(`/v1/catalog/${encodeURIComponent(domain)}`), query: { intent } }, options);
    }

    /** Calls an endpoint through Routebook: `data` is the structured result, `meta` has the charge. */
    fetch<Data = JsonObject>(
        order: FetchOrder,
        { sessionId, ...options }: FetchOptions = {},
    ): Promise<Omit<FetchAnswer, 'data'> & { data: Data }> {
        const timeoutMs = options.timeoutMs ?? (order.timeout_ms === undefined ? undefined : order.timeout_ms + FETCH_GRACE);
        return this.transport.call(
            {
                method: 'POST',
                path: '/v1/fetch',
                body: order,
                ...(sessionId === undefined ? {} : { headers: { 'x-service-session': sessionId } }),
                isRepeatable: true,
            },
            timeoutMs === undefined ? options : { ...options, timeoutMs },
        );
    }

    trending({ window }: { window?: TrendingWindow } = {}, options?: CallOptions): Promise<TrendingAnswer> {
        return data(this.transport, { ...getRequest('/v1/trending'), query: { window } }, options);
    }

    categories(options?: CallOptions): Promise<Category[]> {
        return data(this.transport, getRequest('/v1/categories'), options);
    }

    /** Plan, credits and limits of the key's account. */
    account(options?: CallOptions): Promise<AccountAnswer> {
        return data(this.transport, getRequest('/v1/account'), options);
    }

    /** The audit log of the key's workspace, newest first; only for its owners and admins. */
    audit(query: Omit<AuditQuery, 'cursor'> = {}, options?: CallOptions): Listing<AuditEntry> {
        return listItems(this.transport, '/v1/audit', { ...query }, options);
    }

    /** Every error code and what it means. */
    errors(options?: CallOptions): Promise<ErrorEntry[]> {
        return data(this.transport, getRequest('/v1/errors'), options);
    }

    /** Resolves even if fetches cannot be served. */
    health(options?: CallOptions): Promise<HealthAnswer | UnavailableHealth> {
        return data(this.transport, { ...getRequest('/v1/health'), accepts: 503 }, options);
    }

    /** The OpenAPI document of the whole API. */
    openapi(options?: CallOptions): Promise<JsonObject> {
        return this.transport.call(getRequest('/v1/openapi.json'), options);
    }
}
