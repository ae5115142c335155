import type { Knex } from 'knex';

/** Where the secret of an OAuth client may be sent. Another version of the schema cannot send it elsewhere. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        -- Origins of token_url and revocation_url; null: those of the first consent.
        alter table oauth_clients add column origins text[];
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('alter table oauth_clients drop column origins');
}
