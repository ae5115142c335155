import type { Knex } from 'knex';

/** Operators may forbid session cookies as credentials of a domain. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw('alter table domains add column takes_cookies boolean not null default true');
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('alter table domains drop column takes_cookies');
}
