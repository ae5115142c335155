import type { Knex } from 'knex';

/**
 * The highest cost of an item of a batch, for its order and for retries: the unit price times the lowest of `units`, its cap and what
 * `max_credits` buys. Null: ordered before this migration.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw('alter table jobs add units integer, add max_credits bigint');
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('alter table jobs drop units, drop max_credits');
}
