import type { Knex } from 'knex';

/** Which grants are being renewed: no transaction stays open while a site answers. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        -- Until then one process alone asks the site for the next token.
        alter table connections add column renewing_until timestamptz;
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('alter table connections drop column renewing_until');
}
