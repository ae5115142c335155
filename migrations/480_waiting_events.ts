import type { Knex } from 'knex';

export { down } from './100_common.ts';

/** Events of sites wait in an index of their own, so that neither kind reads past many of the other. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        drop index events_waiting;
        create index events_waiting on events (at, id) where position is null and site is null;
        create index events_waiting_of_site on events (at, id) where position is null and site is not null;
        create index site_callers_of_site on site_callers (site, day);
    `);
}
