import type { Knex } from 'knex';

export { down } from './100_common.ts';

/** A transaction of its own, so that what 440 copied stays if this one fails. */
export const config = { transaction: false };

/** Drops what 440 copied. It waits for others at most a second, so that nobody waits long for it; if it fails, run it again. */
export async function up(knex: Knex): Promise<void> {
    await knex.transaction(async (trx) => {
        await trx.raw("set local lock_timeout = '1s'");
        await trx.raw('drop table if exists endpoints_in_one');
    });
}
