import type { Knex } from 'knex';

export { down } from './100_common.ts';

/** Outside of a transaction, so that events are recorded while the index is built. An interrupted build leaves an invalid index. */
export const config = { transaction: false };

/** A reader of the feed finds the events of its sites without reading those of all others. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw('drop index concurrently if exists events_by_site');
    await knex.raw('create index concurrently events_by_site on events (site, position) where site is not null');
}
