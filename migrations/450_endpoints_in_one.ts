import type { Knex } from 'knex';

export { down } from './100_common.ts';

/** Drops what 440 copied. It waits for others at most a second, so that nobody waits long for it; if it fails, run it again. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw("set local lock_timeout = '1s'");
    await knex.raw('drop table endpoints_in_one');
}
