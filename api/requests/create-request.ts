import type { RequestCreated, RequestOrder } from '../../shared/contracts/requests.ts';
import { ACCOUNT_REQUESTS, ANONYMOUS_REQUESTS, NETWORK_REQUESTS } from '../../shared/domain/accounts/plans.ts';
import { readSite } from '../../shared/domain/site/read-site.ts';
import type { NewRequest } from '../../shared/domain/site/schema-request.ts';
import { newId } from '../../shared/domain/text/ids.ts';
import { normaliseNewlines } from '../../shared/domain/text/text-rule.ts';
import * as schemaRequests from '../../shared/store/registry/schema-requests.ts';
import { limitIdentity, networkOf } from '../admission/client-address.ts';
import { takeFrom } from '../admission/count-call.ts';
import { inAccountTurn, inDomainTurn } from '../admission/writes.ts';
import { keepReply } from '../answers/idempotency.ts';
import type { OpenCall, Reply } from '../call.ts';

type RequestCall = OpenCall<object, object, RequestOrder>;

/**
 * POST /v1/schema-requests: checks the domain and the rate limit, then stores the request in one transaction. It also stores the answer if
 * the call has an Idempotency-Key, so that a retry never creates a second request.
 */
export async function createRequest(call: RequestCall): Promise<Reply<RequestCreated>> {
    const { caller } = call;
    const request = readOrder(call.body);
    const write = async () => {
        await countRequest(call);
        return inDomainTurn(call, undefined, () => store(call, request));
    };
    return caller === undefined ? write() : inAccountTurn({ ...call, caller }, write);
}

function store(call: RequestCall, request: NewRequest): Promise<Reply<RequestCreated>> {
    const { app, caller } = call;
    const id = newId('srq');
    const headers = { location: `/v1/schema-requests/${id}` };
    return app.db.transaction(async (trx) => {
        const { createdAt, demand } = await schemaRequests.create(trx, request, { id, workspaceId: caller?.workspaceId });
        const answer: RequestCreated = {
            request_id: id,
            domain: request.domain,
            status: 'open',
            demand,
            created_at: createdAt.toISOString(),
        };
        return keepReply(call, trx, { status: 201, headers, text: JSON.stringify({ success: true, data: answer }) });
    });
}

function readOrder(order: RequestOrder): NewRequest {
    const { site, registrable } = readSite(order.domain, '/domain');
    return {
        domain: site,
        registrable,
        task: tidy(order.task),
        readOrWrite: order.read_or_write ?? null,
        authShape: order.auth_shape ?? null,
        outputShape: tidyOrNull(order.output_shape),
        failureMode: tidyOrNull(order.failure_mode),
        intentCategory: order.intent_category ?? null,
        sourceUrl: tidyOrNull(order.source_url),
        frequency: order.frequency ?? null,
        requesterContact: tidyOrNull(order.requester_contact),
    };
}

function tidy(text: string): string {
    return normaliseNewlines(text).trim();
}

function tidyOrNull(text: string | undefined): string | null {
    return text === undefined ? null : tidy(text);
}

/**
 * Counts the request. Anonymous callers have a rate limit per address and one per network, accounts have one, enterprise accounts none.
 * @throws Refusal RATE_LIMITED, SERVICE_UNAVAILABLE
 */
async function countRequest(call: RequestCall): Promise<void> {
    const { caller, clientAddress } = call;
    if (caller?.plan === 'enterprise') return;
    const of = caller === undefined ? `ip:${limitIdentity(clientAddress)}` : `account:${caller.accountId}`;
    const window = caller === undefined ? ANONYMOUS_REQUESTS : ACCOUNT_REQUESTS;
    const whose =
        caller === undefined
            ? `from one address is used up; with an API key it is ${ACCOUNT_REQUESTS.limit}`
            : 'of this account is used up';
    const message = `The limit of ${window.limit} schema requests per hour ${whose}.`;
    const name = 'schema_requests';
    await takeFrom(call, { name, identity: `schema-requests:${of}`, window, message });
    if (caller !== undefined) return;
    const network = `schema-requests:network:${networkOf(clientAddress)}`;
    const full = `The limit of ${NETWORK_REQUESTS.limit} schema requests per hour from one network is used up; use an API key.`;
    await takeFrom(call, { name, identity: network, window: NETWORK_REQUESTS, message: full });
}
