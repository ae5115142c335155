import type { Knex } from 'knex';

export { down } from './100_common.ts';

/** Outside of a transaction, so that events are recorded and requests made meanwhile. */
export const config = { transaction: false };

/** Replaced by `events_waiting_of_account` and `events_waiting_of_site` (480), and by `schema_requests_open_of` (490). */
export async function up(knex: Knex): Promise<void> {
    await knex.raw('drop index concurrently if exists events_waiting');
    await knex.raw('drop index concurrently if exists schema_requests_open');
}
