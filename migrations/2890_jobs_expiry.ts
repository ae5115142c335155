import type { Knex } from 'knex';

/**
 * Restricts the index of expiry to jobs that wait, by a condition that only the look-up of expired jobs has. When the statistics say that
 * hardly any job is queued, every index on queued jobs seems small. The planner then read this one to lock the jobs of a claim: all queued
 * jobs, for each claim.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        drop index jobs_expiry;
        create index jobs_expiry on jobs (expires_at) where finished_at is null and operation is null;
        analyze jobs;
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        drop index jobs_expiry;
        create index jobs_expiry on jobs (expires_at) where status = 'queued';
    `);
}
