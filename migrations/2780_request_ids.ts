import type { Knex } from 'knex';

/**
 * The request id of each call in the log, so that a person can find the call that belongs to an answer. Calls of jobs have their job's id.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw('alter table usage add request_id text');
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('alter table usage drop column request_id');
}
