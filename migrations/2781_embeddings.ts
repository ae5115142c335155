import type { Knex } from 'knex';

/**
 * Which model the vectors of endpoints are of, and which sites wait for theirs. The vectors themselves need an extension that may not be
 * there: `admin embeddings rebuild` makes their table. Without a row in `embedding_model` nothing waits.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table embedding_model (
            is_only boolean primary key default true check (is_only),
            model text not null,
            -- Numbers of one vector.
            size integer not null
        );
        create table sites_to_embed (
            site text collate "C" primary key references sites,
            -- Rises when the site is indexed again, so that a worker that is at it does not take it off the list.
            revision integer not null default 0,
            due_at timestamptz not null default app_now()
        );
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('drop table if exists endpoint_vectors; drop table sites_to_embed, embedding_model;');
}
