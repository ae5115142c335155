import type { Knex } from 'knex';

export { down } from './100_common.ts';

/** A site that cannot be indexed waits before it is tried again. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw('alter table sites_to_index add column due_at timestamptz not null default app_now()');
}
