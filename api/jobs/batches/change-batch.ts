import type { Batch, ResumeRequest, RetryRequest } from '../../../shared/contracts/batch-fields.ts';
import { checkConfirmed } from '../../../shared/domain/accounts/confirm-above.ts';
import type { BatchRow } from '../../../shared/domain/jobs/batch-view.ts';
import { findEndpoint } from '../../../shared/fetch/find-endpoint.ts';
import { readerOf } from '../../../shared/fetch/present-job.ts';
import type { Db } from '../../../shared/platform/db.ts';
import { retryRolledBack, retryUntilKnown } from '../../../shared/platform/pg-errors.ts';
import { Refusal } from '../../../shared/refusals.ts';
import * as batches from '../../../shared/store/jobs/batches.ts';
import { orderInTurn } from '../../admission/writes.ts';
import type { Reply } from '../../call.ts';
import { mustFit } from '../must-fit.ts';
import { limitOpenBatches } from './create-batch.ts';
import { mustFindBatch, type OneBatch, viewOf } from './read-batches.ts';

const PATIENCE_MS = 1000;

/** POST /v1/batches/{batch_id}/pause. @throws Refusal BATCH_NOT_OPEN */
export async function pauseBatch(call: OneBatch): Promise<Reply<Batch>> {
    return change(call, (batchId) => batches.pauseBatch(call.app.db, batchId));
}

/** POST /v1/batches/{batch_id}/resume: the batch gets the rights of the calling key. @throws Refusal BATCH_NOT_OPEN, FORBIDDEN */
export async function resumeBatch(call: OneBatch<object, ResumeRequest>): Promise<Reply<Batch>> {
    const { max_credits: maxCredits, stop_after_failures: stopAfterFailures } = call.body;
    const { keyId } = call.caller;
    checkAgain(call, await mustFindBatch(call), maxCredits);
    return change(call, (batchId) => batches.resumeBatch(call.app.db, batchId, { keyId, maxCredits, stopAfterFailures }));
}

/** DELETE /v1/batches/{batch_id}. @throws Refusal BATCH_NOT_OPEN */
export async function cancelBatch(call: OneBatch): Promise<Reply<Batch>> {
    return change(call, (batchId) => batches.cancelBatch(call.app.db, call.caller.workspaceId, batchId));
}

async function change<Body>(call: OneBatch<object, Body>, work: (batchId: string) => Promise<boolean>): Promise<Reply<Batch>> {
    const { batchId } = await mustFindBatch(call);
    // Items that start or end meanwhile may cause a deadlock. The work is idempotent, so it can be retried.
    const isDone = await orderInTurn(call, () => retryUntilKnown(PATIENCE_MS, () => work(batchId)), { isLarge: true });
    if (!isDone) throw new Refusal('BATCH_NOT_OPEN');
    return { answer: await viewOf(call, await mustFindBatch(call)) };
}

/**
 * POST /v1/batches/{batch_id}/retry: retries failed, expired and cancelled items, with the rights of the calling key and at current prices.
 * @throws Refusal BATCH_NOT_OPEN, RATE_LIMITED, FORBIDDEN
 */
export async function retryBatch(call: OneBatch<object, RetryRequest>): Promise<Reply<Batch>> {
    const { app, body, caller } = call;
    const { keyId, accountId } = caller;
    const found = await mustFindBatch(call);
    const { batchId } = found;
    checkAgain(call, found);
    const { codes } = body;
    const prices = await pricesOf(call, batchId);
    const retry = async (trx: Db): Promise<number> => {
        const count = await batches.retryBatch(trx, batchId, { keyId, accountId, codes, prices });
        if (count === undefined) throw new Refusal('BATCH_NOT_OPEN');
        if (count === 0) return 0;
        // It may cost more at current prices.
        checkAgain(call, (await batches.findBatch(trx, readerOf(caller), batchId)) ?? found);
        await mustFit(trx, caller);
        await limitOpenBatches(trx, caller);
        return count;
    };
    const retried = await orderInTurn(call, () => retryRolledBack(() => app.db.transaction(retry)), { isLarge: true });
    return { answer: { ...(await viewOf(call, await mustFindBatch(call))), retried } };
}

/** Endpoints looked up concurrently; their look-ups share a query. */
const LOOKED_UP_AT_ONCE = 100;

/** Checks that the calling key could have created the batch, including the confirmation of its writes' price. @throws Refusal FORBIDDEN */
function checkAgain(
    { caller }: Pick<OneBatch, 'caller'>,
    { needs, greatestCost, maxCredits: before }: BatchRow,
    maxCredits = before,
): void {
    if (needs === 'write') checkConfirmed(caller, Math.min(greatestCost, maxCredits ?? greatestCost));
}

/** Current unit prices of retried items. Items of an endpoint that can no longer be called fail when they start. */
async function pricesOf({ app, body }: OneBatch<object, RetryRequest>, batchId: string): Promise<batches.NewPrice[]> {
    const prices: batches.NewPrice[] = [];
    const endpoints = await batches.endpointsToRetry(app.db, batchId, body.codes);
    const priceOf = async (asked: (typeof endpoints)[number]) => {
        const found = await findEndpoint(app, asked, { isLater: true }).catch(asRefusal);
        if ('siteCredits' in found) prices.push({ ...asked, unit: found.siteCredits, unitsCap: found.unitsCap ?? null });
    };
    for (let from = 0; from < endpoints.length; from += LOOKED_UP_AT_ONCE) {
        await Promise.all(endpoints.slice(from, from + LOOKED_UP_AT_ONCE).map(priceOf));
    }
    return prices;
}

function asRefusal(error: unknown): Refusal {
    if (error instanceof Refusal) return error;
    throw error;
}
