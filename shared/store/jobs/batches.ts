import type { BatchRow } from '../../domain/jobs/batch-view.ts';
import type { BatchStatus } from '../../domain/jobs/states.ts';
import { countRows, type Db, definedConditions, now, toColumns } from '../../platform/db.ts';
import { type FoundPage, type PageOrder, readNumberedPage } from '../../platform/row-page.ts';
import { BATCH_ROW, endQueuedItems, pause } from './batch-ends.ts';
import { renewLeasesOfBatch } from './claims.ts';
import { cancelJob } from './ends.ts';
import type { Reader } from './jobs.ts';
import type { OrderedCall } from './orders.ts';

export interface NewBatch extends Pick<BatchRow, 'batchId' | 'name' | 'metadata' | 'needs' | 'greatestCost' | 'maxCredits'> {
    workspaceId: string;
    keyId: string;
    accountId: string;
    sites: string[];
    endpoints: string[];
    connections: string[];
    ownerId: string | null;
    /** Seconds. */
    expiresIn: number;
    stopAfterFailures: number | null;
}

/** Raw: `operator` if an operator paused the batch, otherwise the reason why its items wait. */
const WAITING = `case when exists (
    select from job_pauses p where p.account_id in ('', batches.account_id) and (p.site = '' or batches.sites = array[p.site])
) then 'operator' else waiting_for end`;

const EXPIRES = "app_now() + expires_in * interval '1 second'";

/** Stores a batch. Store its items in the same transaction. */
export async function addBatch(trx: Db, batch: NewBatch): Promise<void> {
    const expiresAt = trx.raw("app_now() + ? * interval '1 second'", [batch.expiresIn]);
    await trx('batches').insert({ ...toColumns(batch), expires_at: expiresAt });
}

export async function countOpenBatches(db: Db, accountId: string): Promise<number> {
    return countRows(db('batches').where({ account_id: accountId, finished_at: null }));
}

function visible(db: Db, { workspaceId, userId, scopes: { effects, sites, endpoints, connections } }: Reader) {
    const batches = db('batches').where({ workspace_id: workspaceId });
    batches.where((is) => is.whereNull('owner_id').orWhere({ owner_id: userId }));
    if (effects.length < 2) batches.whereIn('needs', [...effects]);
    if (sites !== null) batches.whereRaw('sites <@ cast(? as text[])', [[...sites]]);
    if (endpoints !== null) batches.whereRaw('endpoints <@ cast(? as text[])', [[...endpoints]]);
    if (connections !== null) batches.whereRaw('connections <@ cast(? as text[])', [[...connections]]);
    return batches;
}

export async function findBatch(db: Db, reader: Reader, batchId: string): Promise<BatchRow | undefined> {
    return visible(db, reader)
        .where({ batch_id: batchId })
        .first({ ...BATCH_ROW, waitingFor: db.raw(WAITING) });
}

export function listBatches(
    db: Db,
    reader: Reader,
    { status, ...page }: PageOrder<number> & { status?: BatchStatus | undefined },
): Promise<FoundPage<BatchRow, number>> {
    const found = visible(db, reader).where(definedConditions({ status }));
    return readNumberedPage(found, { ...BATCH_ROW, waitingFor: db.raw(WAITING) }, page);
}

/** Returns the ids of those of the given batches that have ended or were deleted. */
export async function endedBatchesOf(db: Db, batchIds: readonly string[]): Promise<Set<string>> {
    const of = db('batches').whereIn('batch_id', [...batchIds]);
    const open = new Set<string>(await of.whereNull('finished_at').pluck('batch_id'));
    return new Set(batchIds.filter((id) => !open.has(id)));
}

/** Pauses a batch on behalf of its caller. False if it has ended or is being cancelled. */
export async function pauseBatch(db: Db, batchId: string): Promise<boolean> {
    return db.transaction(async (trx) => {
        const status = await lockStatus(trx, batchId);
        if (status === 'running') await pause(trx, batchId, 'caller');
        return status === 'running' || status === 'paused';
    });
}

/** The limits that a resume may change. */
interface Resumption {
    keyId: string;
    maxCredits?: number | undefined;
    stopAfterFailures?: number | undefined;
}

/** Continues a batch with the rights of the calling key. False if it has ended or is being cancelled. */
export async function resumeBatch(db: Db, batchId: string, { keyId, maxCredits, stopAfterFailures }: Resumption): Promise<boolean> {
    return db.transaction(async (trx) => {
        const status = await lockStatus(trx, batchId);
        if (status !== 'running' && status !== 'paused') return false;
        await trx('batches')
            .where({ batch_id: batchId })
            .update({
                ...runningBy(trx, keyId),
                ...(maxCredits === undefined ? {} : { max_credits: maxCredits }),
                ...(stopAfterFailures === undefined ? {} : { stop_after_failures: stopAfterFailures }),
            });
        return true;
    });
}

/** Cancels queued items and aborts running reads; running writes end first. @returns false if it had ended in another way */
export async function cancelBatch(db: Db, workspaceId: string, batchId: string): Promise<boolean> {
    const isCancelled = await db.transaction(async (trx) => {
        // Locks items before their batch, like all transactions. These are the items that are queued now.
        await lockItems(trx, batchId, "status = 'queued'");
        const status = await lockStatus(trx, batchId);
        if (status === 'cancelling' || status === 'cancelled') return true;
        if (status !== 'running' && status !== 'paused') return false;
        await trx('batches').where({ batch_id: batchId }).update({ status: 'cancelling', paused_reason: null });
        return true;
    });
    if (!isCancelled) return false;
    // No further item starts now. Items that were requeued meanwhile are cancelled here too.
    await endQueuedItems(db, batchId, 'cancelled');
    const running: string[] = await db('jobs').where({ batch_id: batchId, status: 'running' }).pluck('job_id');
    for (const jobId of running) await cancelJob(db, workspaceId, jobId);
    return true;
}

/** The current price of a unit at an endpoint. */
export type NewPrice = Pick<OrderedCall, 'site' | 'endpoint' | 'version' | 'unit' | 'unitsCap'>;

/** Raw: the maximum cost of an item. `least` ignores nulls. */
const greatestCost = (item: string) =>
    `${item}.unit * least(${item}.units, ${item}.units_cap, ${item}.max_credits / nullif(${item}.unit, 0))`;

/** Raw: items that did not succeed, were never sent as writes, and still have their params. */
const RETRYABLE = "status in ('failed', 'expired', 'cancelled') and not was_sent and request is not null";

/** Raw: the items that a retry with these codes selects. */
function retryableCondition(codes: readonly string[] | undefined): string {
    return codes === undefined ? RETRYABLE : `${RETRYABLE} and status = 'failed' and code = any (cast(:codes as text[]))`;
}

/** The endpoints of items that a retry selects. */
export async function endpointsToRetry(
    db: Db,
    batchId: string,
    codes: readonly string[] | undefined,
): Promise<Pick<NewPrice, 'site' | 'endpoint' | 'version'>[]> {
    return db('jobs')
        .where({ batch_id: batchId })
        .whereRaw(retryableCondition(codes), { codes: [...(codes ?? [])] })
        .distinct('site', 'endpoint', 'version');
}

/**
 * Requeues items that did not succeed and were never sent as writes. They run with the rights of the calling key, at current prices, and
 * the current paying account is charged. Updates the maximum cost of the batch. The expiry of the batch starts again.
 * @returns the number of items; undefined if the batch is being cancelled, and the transaction must not be committed
 */
export async function retryBatch(trx: Db, batchId: string, { keyId, ...retry }: Retry & { keyId: string }): Promise<number | undefined> {
    const { accountId, codes } = retry;
    // Locks items before their batch, like all transactions: also those that are open now, so that all are locked in one order.
    const which = `(finished_at is null or (${retryableCondition(codes)}))`;
    const locked = await lockItems(trx, batchId, which, { codes: [...(codes ?? [])] });
    if (locked.ended === 0) return (await lockStatus(trx, batchId)) === 'cancelling' ? undefined : 0;
    const { items, more } = await queueItems(trx, batchId, retry);
    await renewLeasesOfBatch(trx, batchId);
    // Last, because items that end wait for the batch while they lock their account.
    if ((await lockStatus(trx, batchId)) === 'cancelling') return undefined;
    await trx('batches')
        .where({ batch_id: batchId })
        .update({
            ...runningBy(trx, keyId),
            account_id: accountId,
            greatest_cost: trx.raw('greatest_cost + ?', [more]),
            finished_at: null,
            expires_at: trx.raw(EXPIRES),
        });
    return items;
}

interface Retry {
    accountId: string;
    codes: readonly string[] | undefined;
    prices: readonly NewPrice[];
}

/** One statement, whose trigger locks the batch before the accounts of its items. @returns how much more they may cost than before */
async function queueItems(trx: Db, batchId: string, { accountId, codes, prices }: Retry): Promise<{ items: number; more: number }> {
    const { rows } = await trx.raw<{ rows: [{ items: number; more: number }] }>(
        `with opened as (
             -- Running items may be queued again, and items expire with their batch.
             update jobs set account_id = case when status = 'queued' then :accountId else account_id end,
                             expires_at = (select ${EXPIRES} from batches where batch_id = :batchId)
             where batch_id = :batchId and finished_at is null
         ), retried as (
             update jobs j
             set status = 'queued', account_id = :accountId, code = null, error = null, end_number = null, finished_at = null,
                 waiting_for = null, attempts = 0, deaths = 0, started_at = null, due_at = app_now(),
                 expires_at = app_now() + b.expires_in * interval '1 second',
                 unit = coalesce(p.unit, j.unit), units_cap = case when p.unit is null then j.units_cap else p.cap end
             from (select job_id as id from jobs where batch_id = :batchId and ${retryableCondition(codes)}) i
             join batches b on b.batch_id = :batchId
             join jobs was on was.job_id = i.id
             left join unnest(cast(:sites as text[]), cast(:endpoints as text[]), cast(:versions as integer[]), cast(:units as integer[]),
                              cast(:caps as integer[])) as p (site, endpoint, version, unit, cap)
                 on p.site = was.site and p.endpoint = was.endpoint and p.version = was.version
             where j.job_id = i.id
             returning ${greatestCost('j')} - ${greatestCost('was')} as more
         )
         select cast(count(*) as integer) as items, cast(coalesce(sum(more), 0) as float8) as more from retried`,
        {
            batchId,
            codes: [...(codes ?? [])],
            accountId,
            sites: prices.map(({ site }) => site),
            endpoints: prices.map(({ endpoint }) => endpoint),
            versions: prices.map(({ version }) => version),
            units: prices.map(({ unit }) => unit),
            caps: prices.map(({ unitsCap }) => unitsCap),
        },
    );
    return rows[0];
}

/** Columns of a batch that goes on at once, with the rights of this key. */
function runningBy(db: Db, keyId: string) {
    return { status: 'running', paused_reason: null, key_id: keyId, failures: 0, due_at: now(db) };
}

/** Locks items of a batch in the order of their ids, and counts those that have ended. @param which raw SQL */
async function lockItems(trx: Db, batchId: string, which: string, bound: object = {}): Promise<{ ended: number }> {
    const { rows } = await trx.raw<{ rows: [{ ended: number }] }>(
        `select cast(count(finished_at) as integer) as ended
         from (select finished_at from jobs where batch_id = :batchId and ${which} order by job_id for update) locked`,
        { ...bound, batchId },
    );
    return rows[0];
}

async function lockStatus(trx: Db, batchId: string): Promise<BatchStatus | undefined> {
    const batch = await trx('batches').where({ batch_id: batchId }).forUpdate().first('status');
    return batch?.status;
}
