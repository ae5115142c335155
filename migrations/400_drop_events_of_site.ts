import type { Knex } from 'knex';

export { down } from './100_common_functions.ts';

/** Outside of a transaction, so that events are recorded meanwhile. */
export const config = { transaction: false };

/**
 * The feed reads events of sites by `events_by_site`. Nothing reads the column `has_deliveries` of events either, but it stays: workers of
 * the code before still write it while they are replaced.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw('drop index concurrently if exists events_of_site');
}
