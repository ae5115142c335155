import type { Knex } from 'knex';

export { down } from './100_common.ts';

/** Outside of a transaction, so that events are recorded while indexes are built. An interrupted build leaves an invalid index. */
export const config = { transaction: false };

/** Events of sites wait in an index of their own. `events_waiting` stays for workers of the release before. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw('drop index concurrently if exists events_waiting_of_account');
    await knex.raw('create index concurrently events_waiting_of_account on events (at, id) where position is null and site is null');
    await knex.raw('drop index concurrently if exists events_waiting_of_site');
    await knex.raw('create index concurrently events_waiting_of_site on events (at, id) where position is null and site is not null');
    await knex.raw('drop index concurrently if exists site_callers_of_site');
    await knex.raw('create index concurrently site_callers_of_site on site_callers (site, day)');
}
