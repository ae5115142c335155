import type { Knex } from 'knex';

export { down } from './100_common_functions.ts';

/** Outside of a transaction, so that events are recorded meanwhile. */
export const config = { transaction: false };

/** The feed reads events of sites by `events_by_site`, and nothing reads which events have deliveries. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw('drop index concurrently if exists events_of_site');
    await knex.raw('alter table events drop column if exists has_deliveries');
}
