import type { Db } from '../../platform/db.ts';
import { type ClaimedJob, lockClaimed } from './claims.ts';

/** The result of starting a job. `limit`: its batch would exceed max_credits. `paused`: its batch is not running. */
export type StartResult = 'begun' | 'gone' | 'paused' | { limit: { held: number } };

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

/** Whether an item may start with this budget. @param held credits to hold for it */
export function checkBudget(budget: BatchBudget | undefined, held: number): Exclude<StartResult, 'gone'> {
    if (budget?.status !== 'running') return 'paused';
    if (budget.most !== null && budget.used + budget.held + held > budget.most) return { limit: { held: budget.held } };
    return 'begun';
}

/** A job that is about to start. */
export interface StartOrder extends Pick<ClaimedJob, 'jobId' | 'operation' | 'batchId'> {
    accountId: string;
    /** Credits that are held for it. */
    held: number;
}

/**
 * Changes jobs from `queued` to `running`, immediately before the calls are sent: the items of one batch in one transaction, or a single
 * job. `gone`: the job was cancelled or given to another worker.
 */
export async function beginAttempts(db: Db, batchId: string | null, jobs: readonly StartOrder[]): Promise<StartResult[]> {
    return db.transaction(async (trx) => {
        // Locks items before their batch, like all transactions.
        const rows: { operation: string; may_begin: boolean }[] = await lockClaimed(trx, jobs).select(
            'operation',
            trx.raw("status = 'queued' and expires_at > app_now() as may_begin"),
        );
        const waiting = new Set(rows.filter((row) => row.may_begin).map(({ operation }) => operation));
        const budget = batchId === null ? undefined : await lockBudget(trx, batchId);
        const begun = jobs.map((job): StartResult => {
            if (!waiting.has(job.operation)) return 'gone';
            if (batchId === null) return 'begun';
            const answer = checkBudget(budget, job.held);
            if (answer === 'begun' && budget !== undefined) budget.held += job.held;
            return answer;
        });
        await markRunning(
            trx,
            jobs.filter((_, place) => begun[place] === 'begun'),
        );
        return begun;
    });
}

async function lockBudget(trx: Db, batchId: string): Promise<BatchBudget | undefined> {
    const budget = await trx('batches')
        .where({ batch_id: batchId })
        .forUpdate()
        .first<BatchBudget & { waiting: string | null }>({ ...BUDGET, waiting: 'waiting_for' });
    if (budget !== undefined && budget.waiting !== null) await trx('batches').where({ batch_id: batchId }).update({ waiting_for: null });
    return budget;
}

async function markRunning(trx: Db, jobs: readonly StartOrder[]): Promise<void> {
    if (jobs.length === 0) return;
    await trx.raw(
        `update jobs j
         set status = 'running', account_id = n.account_id, held = n.held, waiting_for = null, attempts = j.attempts + 1,
             started_at = coalesce(j.started_at, app_now())
         from unnest(cast(:ids as text[]), cast(:accounts as text[]), cast(:held as bigint[])) as n (job_id, account_id, held)
         where j.job_id = n.job_id`,
        {
            ids: jobs.map(({ jobId }) => jobId),
            accounts: jobs.map(({ accountId }) => accountId),
            held: jobs.map(({ held }) => held),
        },
    );
}
