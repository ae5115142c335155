import type { ConnectionEntry, ConnectionParams } from '../../shared/contracts/connections.ts';
import type { FetchRequest } from '../../shared/contracts/fetch.ts';
import { CONNECTION_TESTS, REJECTED_TESTS } from '../../shared/domain/accounts/plans.ts';
import { missingScope } from '../../shared/domain/accounts/scopes.ts';
import { buildUrl } from '../../shared/domain/fetch/build-request.ts';
import { withPlaceholderValues } from '../../shared/domain/fetch/prepared-values.ts';
import { termsOf } from '../../shared/domain/package/auth.ts';
import * as pricing from '../../shared/domain/package/pricing.ts';
import type { Admitted } from '../../shared/fetch/admit.ts';
import { bindValues } from '../../shared/fetch/bind-values.ts';
import { checkEffect, checkUrl } from '../../shared/fetch/check-rights.ts';
import { checkTerms, requireExternalKeyRing } from '../../shared/fetch/choose-connection.ts';
import { recordUse } from '../../shared/fetch/connection-use.ts';
import { timesOf } from '../../shared/fetch/deadlines.ts';
import { failureOfCall } from '../../shared/fetch/failure.ts';
import { findEndpoint } from '../../shared/fetch/find-endpoint.ts';
import { leaseOf } from '../../shared/fetch/lease.ts';
import type { FetchOrder } from '../../shared/fetch/order.ts';
import { passCircuit } from '../../shared/fetch/pass-circuit.ts';
import { recordFetch } from '../../shared/fetch/record.ts';
import { fetchJobOf, runJob } from '../../shared/fetch/run-job.ts';
import { invalidFields, Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import { liftRejection } from '../../shared/store/connections/connection-status.ts';
import { type Connection, findConnection } from '../../shared/store/connections/connections.ts';
import { countCall } from '../admission/count-call.ts';
import type { Call, Reply } from '../call.ts';
import { mustFindConnection, presentConnection } from './connections.ts';
import { mustFindOffer } from './terms.ts';

/** POST /v1/connections/{connection_id}/test: a passed test clears a rejection. */
export async function testConnection(call: Call<ConnectionParams, object, undefined>): Promise<Reply<ConnectionEntry>> {
    const { app } = call;
    const { workspaceId, userId, scopes } = call.caller;
    requireExternalKeyRing(app);
    const connection = await mustFindConnection(call);
    const { connectionId, site, authId } = connection;
    if (scopes.listed.connections?.includes(connectionId) === false) throw missingScope({ part: 'connections', needs: connectionId });
    const { offer } = await mustFindOffer(app, site);
    const test = termsOf(offer, authId)?.entry.test;
    if (test === undefined) throw new Refusal('ENDPOINT_NOT_FOUND', 'The schema of this site has no test endpoint.');
    await passTest(call, connection, test);
    await liftRejection(app.db, connectionId);
    app.vault.forget(workspaceId, site);
    const tested = await findConnection(app.db, { workspaceId, userId }, connectionId);
    if (tested === undefined) throw new Refusal('CONNECTION_NOT_FOUND');
    return { answer: presentConnection(tested) };
}

/**
 * Calls the test endpoint. The call is counted, paced and recorded like a fetch, but free.
 * @throws Refusal CONNECTION_REJECTED if the site answers 401 or 403; RATE_LIMITED; the errors of a fetch
 */
export async function passTest<P, Q, B>(call: Call<P, Q, B>, connection: Connection, test: string): Promise<void> {
    const { app, operation, requestId, startedAt, caller } = call;
    await countTest(call, connection);
    const body: FetchRequest = { site: connection.site, endpoint: test, connection: connection.connectionId };
    const order: FetchOrder = { operation, requestId, caller, body, times: timesOf(app, body, startedAt) };
    const asked = await admitTest(call, order, connection);
    // Only counted routes have rate-limit headers.
    const counted = await countCall({ ...call, notes: { headers: {} } }, leaseOf(order, asked.found));
    try {
        const failure = await sendTest(call, order, asked);
        if (failure === undefined) return;
        if (!failure.isRejected) throw failure.refusal;
        await app.limits.take({ identity: rejectedTests(caller, connection), windows: [REJECTED_TESTS] });
        const { upstream } = failure.refusal.extras;
        throw new Refusal('CONNECTION_REJECTED', `The site answered ${upstream?.status}: it rejects this credential.`, { upstream });
    } finally {
        await counted.end();
    }
}

/** @returns why the test failed, and whether the site rejected the credential; undefined if it passed */
async function sendTest<P, Q, B>(
    call: Call<P, Q, B>,
    order: FetchOrder,
    asked: Admitted,
): Promise<{ refusal: Refusal; isRejected: boolean } | undefined> {
    const { app } = call;
    const { admitted, backlogMs, passage } = await passCircuit(app, order, asked);
    try {
        const job = fetchJobOf(app, order, admitted, { units: 1, backlogMs });
        const outcome = await runJob(app, job, call);
        passage(outcome);
        const failure = outcome.ok
            ? undefined
            : { refusal: failureOfCall(job, outcome, false).refusal, isRejected: outcome.isCallers === true };
        const durationMs = performance.now() - order.times.began;
        recordFetch(app, order, { found: admitted.found, code: failure?.refusal.code ?? 'success', credits: 0, outcome, durationMs });
        await recordUse(app, order, job, outcome);
        return failure;
    } finally {
        passage();
    }
}

async function admitTest<P, Q, B>({ app }: Call<P, Q, B>, { caller, body }: FetchOrder, connection: Connection): Promise<Admitted> {
    const found = await findEndpoint(app, body);
    if (!found.ok) throw found.refusal;
    checkTerms(app, found, connection);
    await checkEffect(app, caller, found);
    const values = await bindValues(found, body);
    const price = pricing.priceOrder({ ...found, maxCredits: undefined, maxResults: undefined });
    if (!price.ok) throw invalidFields([price.problem]);
    checkUrl(found.policy, () => buildUrl(found.endpoint, withPlaceholderValues(found.endpoint, values)));
    return { ok: true, found, values, price, connection, cursor: undefined };
}

async function countTest<P, Q, B>({ app, caller }: Call<P, Q, B>, connection: Connection): Promise<void> {
    const refuse = (message: string, retryAfter: number) => {
        app.metrics.rateLimited.inc({ plan: caller.plan, window: 'connection_tests' });
        throw new Refusal('RATE_LIMITED', `The window connection_tests is full: ${message}`, { retryAfter });
    };
    const { windows } = await app.limits.peek(rejectedTests(caller, connection), [REJECTED_TESTS], caller.accountId);
    const [rejected] = windows;
    if (rejected !== undefined && rejected.remaining <= 0)
        refuse(`${REJECTED_TESTS.limit} tests an hour that this site rejected.`, Math.max(1, rejected.resetsIn));
    const verdict = await app.limits.take({ identity: `connection-tests:${caller.accountId}`, windows: [CONNECTION_TESTS] });
    if (!verdict.ok) refuse(`${CONNECTION_TESTS.limit} tests of one account an hour.`, verdict.retryAfter);
}

function rejectedTests({ accountId }: Caller, { site }: Connection): string {
    return `rejected-tests:${accountId}:${site}`;
}
