import type { BatchFields, BatchQuery, BatchRequest } from '../../../shared/contracts/batch-fields.ts';
import { checkConfirmed } from '../../../shared/domain/accounts/confirm-above.ts';
import { batchView } from '../../../shared/domain/jobs/batch-view.ts';
import { BATCH_EXPIRY, OPEN_BATCHES, OPEN_RETRY } from '../../../shared/domain/jobs/bounds.ts';
import { etaSeconds } from '../../../shared/domain/jobs/eta.ts';
import { newId } from '../../../shared/domain/text/ids.ts';
import { insufficientCredits } from '../../../shared/fetch/hold.ts';
import { readerOf } from '../../../shared/fetch/present-job.ts';
import type { Db } from '../../../shared/platform/db.ts';
import { Refusal } from '../../../shared/refusals.ts';
import type { Caller } from '../../../shared/store/accounts/callers.ts';
import { setHash } from '../../../shared/store/fetch/idempotency.ts';
import { addBatch, countOpenBatches, findBatch, type NewBatch } from '../../../shared/store/jobs/batches.ts';
import { openDrafts } from '../../../shared/store/jobs/drafts.ts';
import { orderInTurn } from '../../admission/writes.ts';
import { keepReply, type OnceRules } from '../../answers/idempotency.ts';
import { checkKeyAgain } from '../../auth/api-key.ts';
import { type Reply, sessionOf } from '../../call.ts';
import { mustFit, mustFitToday, openDraftRoom } from '../must-fit.ts';
import { mustSee } from '../must-see.ts';
import { type BatchTotals, checkItems } from './check-items.ts';
import { type BatchCall, hashBody, openBody } from './read-items.ts';
import { windowsLeft } from './windows-left.ts';

/** How long the call may take after its body has arrived, and how long the body may take. */
const AFTER_MS = 60_000;
const BODY_MS = 600_000;

/**
 * Reserves the Idempotency-Key before the body arrives, and compares the body's hash later. Only keys that may see the batch get a replay.
 */
export const BATCH_ONCE: OnceRules<BatchRequest> = {
    isKept: (_body, { query }) => (query as BatchQuery).dry_run !== true,
    lastsMs: () => BODY_MS + AFTER_MS,
    readHash: (call) => hashBody(call as BatchCall),
    async mayReplay(call, kept) {
        const caller = await checkKeyAgain(call);
        await mustSee(caller, kept, (reader, id) => findBatch(call.app.db, reader, id));
    },
};

/**
 * POST /v1/batches: checks the rate limit, validates all items, then stores them in one transaction. It also stores the answer if the call
 * has an Idempotency-Key. An incomplete body or an invalid item stores nothing.
 */
export async function createBatch(call: BatchCall): Promise<Reply<never>> {
    const { app, query, caller } = call;
    const body = await openBody(call);
    const { workspaceId, keyId, accountId } = caller;
    const ids = { batchId: newId('bat'), workspaceId, keyId, accountId };
    const room = openDraftRoom(app, caller);
    const drafts = openDrafts(app.db, { ...ids, sessionId: sessionOf(call) ?? null }, (more) => room.take(more));
    try {
        const isDry = query.dry_run === true;
        const totals = await checkItems(app, caller, body, (item) => (isDry ? Promise.resolve() : drafts.add(item)));
        // The body may have taken ten minutes.
        await checkKeyAgain(call);
        const { expires_in: expiresIn = BATCH_EXPIRY.fallback, max_credits: maxCredits } = body.fields;
        const eta = etaSeconds({ queued: totals.items }, caller.figures, await windowsLeft(app, caller));
        const warnings = eta === null || eta > expiresIn ? ['EXPIRES_BEFORE_END'] : [];
        if (isDry) {
            const data = { items: totals.items, credits: { max: maxCredits ?? totals.greatestCost }, eta_seconds: eta, warnings };
            return { status: 200, text: JSON.stringify({ success: true, data }), isKept: false };
        }
        checkConfirmed(caller, Math.min(totals.costOfWrites, maxCredits ?? totals.costOfWrites));
        const available = (await app.credits.balance(accountId))?.available ?? 0;
        if (available < totals.firstUnit) throw insufficientCredits(app, caller, totals.firstUnit, available);
        await drafts.end();
        const batch = newBatchOf(ids, body.fields, totals, expiresIn);
        const hash = body.hash();
        const order = async (trx: Db): Promise<Reply<never>> => {
            await addBatch(trx, batch);
            await drafts.store(trx);
            // Other calls of this account may have used up the limits meanwhile.
            await mustFit(trx, caller);
            await mustFitToday(trx, caller, room.taken);
            await limitOpenBatches(trx, caller);
            const row = await findBatch(trx, readerOf(caller), ids.batchId);
            if (row === undefined) throw new Error('a batch that was just stored is not there');
            const text = JSON.stringify({ success: true, data: { ...batchView(row, eta), warnings } });
            if (call.keyed !== undefined) await setHash(trx, call.keyed, hash);
            return keepReply(call, trx, { status: 202, headers: { location: `/v1/batches/${ids.batchId}` }, text });
        };
        return await orderInTurn(call, () => app.db.transaction(order), { isLarge: true });
    } finally {
        room.leave();
        await drafts.close();
    }
}

function newBatchOf(
    ids: Pick<NewBatch, 'batchId' | 'workspaceId' | 'keyId' | 'accountId'>,
    fields: BatchFields,
    totals: BatchTotals,
    expiresIn: number,
): NewBatch {
    return {
        ...ids,
        name: fields.name ?? null,
        metadata: JSON.stringify(fields.metadata ?? {}),
        needs: totals.needs,
        sites: [...totals.sites],
        endpoints: [...totals.endpoints],
        connections: [...totals.connections],
        ownerId: totals.ownerId,
        expiresIn,
        greatestCost: totals.greatestCost,
        maxCredits: fields.max_credits ?? null,
        stopAfterFailures: fields.stop_after_failures ?? null,
    };
}

/**
 * Checks the number of open batches. Call it after jobs were stored: that locks the row of the account, so the count is exact.
 * @throws Refusal RATE_LIMITED
 */
export async function limitOpenBatches(trx: Db, { accountId }: Caller): Promise<void> {
    if ((await countOpenBatches(trx, accountId)) <= OPEN_BATCHES) return;
    const message = `The window open_batches is full: this account already has ${OPEN_BATCHES} open batches. Wait until one ends.`;
    throw new Refusal('RATE_LIMITED', message, { retryAfter: OPEN_RETRY });
}
