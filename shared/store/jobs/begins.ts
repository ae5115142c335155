import type { Db } from '../../platform/db.ts';
import { type PreparedQuery, runPrepared } from '../../platform/prepared-query.ts';
import { type HoldOrder, holdArrays } from '../credits/moves.ts';
import { type ClaimedJob, lockClaimed } from './claims.ts';
import { type EndingJob, endHolds, groupByHold, type Held, holdJobs } from './holds.ts';
import { namedBySizes, TIMEOUT_MS } from './plans-by-size.ts';

/** Why an item may not start. `limit`: the batch would exceed max_credits. `paused`: the batch is not running. */
type OverBudget = 'paused' | { limit: { held: number } };
/** Why a job did not start. `gone`: cancelled, or another worker has it. `stale`: its site changed. `credits`: too few are left. */
export type NotStarted = OverBudget | 'gone' | 'stale' | 'credits';
/** What a started job holds, or why it did not start. */
export type StartResult = Held | NotStarted;

/** The credits that a batch may still hold. */
export interface BatchBudget {
    status: string;
    used: number;
    held: number;
    /** Null if the batch has no limit. */
    max: number | null;
}

const BUDGET = { status: 'status', used: 'credits_used', held: 'credits_held', max: 'max_credits' };

export async function readBudget(db: Db, batchId: string): Promise<BatchBudget | undefined> {
    return db('batches').where({ batch_id: batchId }).first<BatchBudget>(BUDGET);
}

/** Why an item may not start with this budget; undefined if it may. @param held credits to hold for it */
export function checkBudget(budget: BatchBudget | undefined, held: number): OverBudget | undefined {
    if (budget?.status !== 'running') return 'paused';
    if (budget.max !== null && budget.used + budget.held + held > budget.max) return { limit: { held: budget.held } };
    return undefined;
}

export interface StartOrder extends Pick<ClaimedJob, 'jobId' | 'operation' | 'batchId'> {
    /** The most it costs, and who pays. */
    order: HoldOrder;
}

/** Holds credits and sets jobs `running` just before their calls, in one transaction: so what a dead worker held is known. */
export async function beginAttempts(db: Db, batchId: string | null, jobs: readonly StartOrder[]): Promise<StartResult[]> {
    return (batchId === null ? undefined : await beginAtOnce(db, batchId, jobs)) ?? beginInSteps(db, batchId, jobs);
}

/**
 * Begins items in one statement, if all of them still wait and the batch runs without a limit of its own. The account's row is locked until
 * the commit. A busy worker is slow between the steps of a transaction, so steps would make other calls of the account wait.
 * @returns undefined if nothing was begun: the steps find out why
 */
async function beginAtOnce(db: Db, batchId: string, jobs: readonly StartOrder[]): Promise<StartResult[] | undefined> {
    const groups = groupByHold(
        jobs.map(({ order }) => order),
        batchId,
    );
    const places = new Map(
        groups.flatMap(({ order, jobs: held }) => held.map(({ operation }, place) => [operation, { order, place: place + 1 }] as const)),
    );
    const given = jobs.map((job) => ({ ...job, ...(places.get(job.operation) as { order: HoldOrder; place: number }) }));
    const { holding, batches } = holdArrays(groups.map(({ order }) => order));
    const values: unknown[] = [
        given.map(({ jobId }) => jobId),
        given.map(({ operation }) => operation),
        given.map(({ order }) => order.accountId),
        given.map(({ order }) => order.operation),
        given.map(({ order }) => order.unit),
        given.map(({ place }) => place),
        batchId,
        ...holding,
        ...batches,
    ];
    const rows = await runPrepared<BegunRow>(db, namedBySizes(BEGIN), values, TIMEOUT_MS);
    if (!rows.some(({ begun, stale }) => begun || stale)) return undefined;
    const found = new Map(rows.map((row) => [row.operation, row]));
    return jobs.map(({ operation, order: { maxUnits } }) => {
        const row = found.get(operation);
        if (row?.begun !== true) return row?.stale === true ? 'stale' : 'credits';
        return { hold: row.hold, amount: row.amount, units: maxUnits };
    });
}

interface BegunRow {
    operation: string;
    hold: string;
    amount: number;
    begun: boolean;
    stale: boolean;
}

/** Raw: what a started job `j` becomes; `n` has its account, its hold and the credits of it. */
const STARTED = `status = 'running', account_id = n.account_id, hold_operation = nullif(n.hold, j.operation), held = n.held, waiting_for = null,
    attempts = j.attempts + 1, started_at = coalesce(j.started_at, app_now())`;

/** Locks the items, then the account, then by the trigger of jobs the batch, like all transactions. */
const BEGIN: PreparedQuery = {
    name: 'jobs_begin',
    text: `
    with given as (
        select * from unnest((select $1::text[]), (select $2::text[]), (select $3::text[]), (select $4::text[]), (select $5::bigint[]),
                             (select $6::integer[]))
            as n (job_id, operation, account_id, hold, held, place)
    ), waiting as materialized (
        select j.job_id from jobs j join given n on n.job_id = j.job_id and n.operation = j.operation
        where j.status = 'queued' and j.expires_at > app_now()
        order by j.job_id for update of j
    ), moved as materialized (
        select m.operation, m.units, m.is_stale
        from (select count(*) as jobs from waiting) w
        join batches b on b.batch_id = $7 and b.status = 'running' and b.max_credits is null and b.waiting_for is null
        cross join lateral credits_move(
            -- The items are counted, so they are locked first.
            case when w.jobs > 0 then cast('{}' as text[]) end, '{}', 0, 0, 0,
            $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, h_batch => $23, h_items => $24) m
        where w.jobs = (select count(*) from given)
    ), begun as (
        update jobs j
        set ${STARTED}
        from waiting w join given n on n.job_id = w.job_id join moved m on m.operation = n.hold
        where j.job_id = w.job_id and n.place <= m.units and not m.is_stale
        returning j.operation
    )
    select n.operation, n.hold, n.held as amount, b.operation is not null as begun, coalesce(m.is_stale, false) as stale
    from given n left join moved m on m.operation = n.hold left join begun b on b.operation = n.operation`,
};

async function beginInSteps(db: Db, batchId: string | null, jobs: readonly StartOrder[]): Promise<StartResult[]> {
    return db.transaction(async (trx) => {
        // Locks items, then what holds lock, then the batch, like all transactions.
        const rows: { operation: string; may_begin: boolean }[] = await lockClaimed(trx, jobs).select(
            'operation',
            trx.raw("status = 'queued' and expires_at > app_now() as may_begin"),
        );
        const waiting = new Set(rows.filter((row) => row.may_begin).map(({ operation }) => operation));
        const orders = jobs.filter(({ operation }) => waiting.has(operation)).map(({ order }) => order);
        const holds = await holdJobs(trx, orders, batchId);
        const budget = batchId === null ? undefined : await lockBudget(trx, batchId);
        const started: Started[] = [];
        const overBudget: EndingJob[] = [];
        const results = jobs.map((job): StartResult => {
            const { operation } = job;
            if (!waiting.has(operation)) return 'gone';
            const held = holds.get(operation) ?? 'credits';
            if (typeof held === 'string') return held;
            const over = batchId === null ? undefined : checkBudget(budget, held.amount);
            if (over !== undefined) {
                overBudget.push({ operation, hold: held.hold, batchId, held: held.amount, charge: null });
                return over;
            }
            started.push({ job, held });
            if (budget !== undefined) budget.held += held.amount;
            return held;
        });
        await endHolds(trx, overBudget);
        await markRunning(trx, started);
        return results;
    });
}

interface Started {
    job: StartOrder;
    held: Held;
}

async function lockBudget(trx: Db, batchId: string): Promise<BatchBudget | undefined> {
    const budget = await trx('batches')
        .where({ batch_id: batchId })
        .forUpdate()
        .first<BatchBudget & { waiting: string | null }>({ ...BUDGET, waiting: 'waiting_for' });
    if (budget !== undefined && budget.waiting !== null) await trx('batches').where({ batch_id: batchId }).update({ waiting_for: null });
    return budget;
}

async function markRunning(trx: Db, started: readonly Started[]): Promise<void> {
    if (started.length === 0) return;
    await trx.raw(
        `update jobs j
         set ${STARTED}
         from unnest(cast(:ids as text[]), cast(:accounts as text[]), cast(:holds as text[]), cast(:held as bigint[]))
             as n (job_id, account_id, hold, held)
         where j.job_id = n.job_id`,
        {
            ids: started.map(({ job }) => job.jobId),
            accounts: started.map(({ job }) => job.order.accountId),
            holds: started.map(({ held }) => held.hold),
            held: started.map(({ held }) => held.amount),
        },
    );
}
