import type { Knex } from 'knex';

/**
 * What an item of a batch costs at most, when it is ordered and when it is retried: its unit times the least of `units`, its cap and what
 * `max_credits` buys. Null: ordered before this migration.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw('alter table jobs add units integer, add max_credits bigint');
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('alter table jobs drop units, drop max_credits');
}
