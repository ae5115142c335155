import type { Knex } from 'knex';

/** The price of a write, in credits, above which a key requires the confirmation by a person; null: never. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw('alter table api_keys add column confirm_above integer check (confirm_above >= 0)');
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('alter table api_keys drop column confirm_above');
}
