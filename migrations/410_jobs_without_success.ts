import type { Knex } from 'knex';

export { down } from './100_common_functions.ts';

/** Outside of a transaction, so that jobs are ordered and end meanwhile. */
export const config = { transaction: false };

/** A list of failed jobs reads no others. Most jobs succeed, so that few ends write it. */
export async function up(knex: Knex): Promise<void> {
    // A build that was interrupted leaves an index that nothing uses.
    await knex.raw('drop index concurrently if exists jobs_without_success');
    await knex.raw(`create index concurrently jobs_without_success on jobs (workspace_id, status, number)
        where status in ('failed', 'cancelled', 'expired')`);
}
