import type { Db } from '../../shared/platform/db.ts';

/** Brings a database at migration 2830, the last one before the baseline, to the baseline. */
export async function updateFrom2830(db: Db): Promise<void> {
    await db.raw(`
        drop index jobs_due, jobs_due_of_batch, jobs_leased, jobs_expiry, jobs_kept;
        create index jobs_due on jobs (account_id, due_at, number) where finished_at is null and operation is null and batch_id is null;
        create index jobs_due_of_batch on jobs (batch_id, due_at, number)
            where finished_at is null and operation is null and batch_id is not null;
        create index jobs_leased on jobs (number) where operation is not null;
        create index jobs_expiry on jobs (expires_at) where finished_at is null and operation is null and batch_id is null and number > 0;
        create index jobs_kept on jobs (finished_at) where request is not null and finished_at is not null;
        analyze jobs;
    `);
}
