import type { Knex } from 'knex';

/** Whatever moves credits of a call that somebody waits for, or keeps its answer with them; each takes its locks within itself. */
const MOVEMENTS = ['credits_move', 'credits_settle', 'credits_hold_capped', 'credits_mark_sent', 'idempotency_store'];

/**
 * A movement waits a second for a lock and then says so (goal R9). Without this the server would still make it long after the
 * process had given it up and told its caller that nothing was charged. Set on the functions and not on connections, where a pooler
 * may ignore it.
 */
export async function up(knex: Knex): Promise<void> {
    for (const name of MOVEMENTS) await knex.raw(`alter function ${name} set lock_timeout = '1s'`);
}

export async function down(knex: Knex): Promise<void> {
    for (const name of MOVEMENTS) await knex.raw(`alter function ${name} reset lock_timeout`);
}
