import type { Knex } from 'knex';

/**
 * The model of the vectors of endpoints, and the sites that wait for vectors. The vectors themselves need an extension that may be missing,
 * so `admin embeddings rebuild` creates their table. Without a row in `embedding_model` nothing waits.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table embedding_model (
            is_only boolean primary key default true check (is_only),
            model text not null,
            -- The dimensions of a vector.
            size integer not null
        );
        create table sites_to_embed (
            site text collate "C" primary key references sites,
            -- Rises when the site is indexed again, so that a worker with the earlier revision does not remove it from the list.
            revision integer not null default 0,
            due_at timestamptz not null default app_now()
        );
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('drop table if exists endpoint_vectors; drop table sites_to_embed, embedding_model;');
}
