import type { Knex } from 'knex';

export { down } from './100_common.ts';

/** Webhooks and accounts end at once, and what may be many rows afterwards in steps. A process that dies in between leaves a mark. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        -- Whether deliveries that waited when it was disabled have not been stopped yet. They are not sent meanwhile.
        alter table webhooks add column is_stopping boolean not null default false;
        create index webhooks_stopping on webhooks (id) where is_stopping;
        -- The workspaces that a deleted user left empty, until their rows and the user's own are deleted.
        alter table users add column emptied text[] collate "C";
        create index users_emptied on users (id) where emptied is not null;
    `);
}
