import type { Knex } from 'knex';

/**
 * Indexes that take fewer writes for each attempt of a job. No index depends on `status` or on the time of a lease, so PostgreSQL starts a
 * job and renews a lease without new entries where the page has space. Jobs that have ended, and items of batches, which expire with their
 * batch, have no entries for deletion and expiry.
 *
 * Claims cannot read the index of expiry. When statistics say that hardly a job is queued, it looks as small as theirs, and the planner once
 * read all queued jobs for each claim.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        drop index jobs_due, jobs_due_of_batch, jobs_leased, jobs_expiry, jobs_kept;
        create index jobs_due on jobs (account_id, due_at, number) where finished_at is null and operation is null and batch_id is null;
        create index jobs_due_of_batch on jobs (batch_id, due_at, number)
            where finished_at is null and operation is null and batch_id is not null;
        create index jobs_leased on jobs (number) where operation is not null;
        create index jobs_expiry on jobs (expires_at) where finished_at is null and operation is null and batch_id is null;
        create index jobs_kept on jobs (finished_at) where request is not null and finished_at is not null;
        analyze jobs;
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        drop index jobs_due, jobs_due_of_batch, jobs_leased, jobs_expiry, jobs_kept;
        create index jobs_due on jobs (account_id, due_at, number) where status = 'queued' and operation is null and batch_id is null;
        create index jobs_due_of_batch on jobs (batch_id, due_at, number)
            where status = 'queued' and operation is null and batch_id is not null;
        create index jobs_leased on jobs (lease_until) where operation is not null;
        create index jobs_expiry on jobs (expires_at) where status = 'queued';
        create index jobs_kept on jobs (finished_at) where request is not null;
    `);
}
