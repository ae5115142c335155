import type { Knex } from 'knex';

/** Which grants are being renewed. Without this column a transaction would stay open while a site answers. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        -- Until this time only one process asks the site for the next token.
        alter table connections add column renewing_until timestamptz;
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('alter table connections drop column renewing_until');
}
