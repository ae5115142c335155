import type { Db } from '../../platform/db.ts';
import type { HoldOrder } from '../credits/moves.ts';
import { type ClaimedJob, lockClaimed } from './claims.ts';
import { type Ending, endHolds, type Held, holdJobs } from './holds.ts';

/** Why an item may not start. `limit`: the batch would exceed max_credits. `paused`: the batch is not running. */
type OverBudget = 'paused' | { limit: { held: number } };
/**
 * Why a job did not start. `gone`: it was cancelled or given to another worker. `stale`: its site has changed since its look-up. `credits`:
 * balance or caps leave too few.
 */
export type NotStarted = OverBudget | 'gone' | 'stale' | 'credits';
/** What a started job holds, or why it did not start. */
export type StartResult = Held | NotStarted;

/** The credits that a batch may still hold. */
export interface BatchBudget {
    status: string;
    used: number;
    held: number;
    /** Null if the batch has no limit. */
    most: number | null;
}

const BUDGET = { status: 'status', used: 'credits_used', held: 'credits_held', most: 'max_credits' };

/** Reads the current budget of a batch. */
export async function readBudget(db: Db, batchId: string): Promise<BatchBudget | undefined> {
    return db('batches').where({ batch_id: batchId }).first<BatchBudget>(BUDGET);
}

/** Why an item may not start with this budget; undefined if it may. @param held credits to hold for it */
export function checkBudget(budget: BatchBudget | undefined, held: number): OverBudget | undefined {
    if (budget?.status !== 'running') return 'paused';
    if (budget.most !== null && budget.used + budget.held + held > budget.most) return { limit: { held: budget.held } };
    return undefined;
}

/** A job that is about to start. */
export interface StartOrder extends Pick<ClaimedJob, 'jobId' | 'operation' | 'batchId'> {
    /** The most it costs, and who pays. */
    order: HoldOrder;
}

/**
 * Holds the credits of jobs and changes them from `queued` to `running`, immediately before the calls are sent: items of one batch, or a
 * single job. One transaction, so what a worker that dies has held is known from its jobs.
 */
export async function beginAttempts(db: Db, batchId: string | null, jobs: readonly StartOrder[]): Promise<StartResult[]> {
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
        const overBudget: Ending[] = [];
        const results = jobs.map((job): StartResult => {
            const { operation } = job;
            if (!waiting.has(operation)) return 'gone';
            const held = holds.get(operation) ?? 'credits';
            if (typeof held === 'string') return held;
            const over = batchId === null ? undefined : checkBudget(budget, held.amount);
            if (over !== undefined) {
                overBudget.push({ operation, hold_operation: held.hold, batch_id: batchId, held: held.amount, charge: null });
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
         set status = 'running', account_id = n.account_id, hold_operation = nullif(n.hold, j.operation), held = n.held, waiting_for = null,
             attempts = j.attempts + 1, started_at = coalesce(j.started_at, app_now())
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
