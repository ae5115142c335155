import type { Knex } from 'knex';

/** Maintainers may lend a connection to the verification of their packages. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        alter table connections add column verifies boolean not null default false;
        create index connections_lent on connections (site) where verifies;
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('alter table connections drop column verifies');
}
