import type { Knex } from 'knex';

/** Where workers leave outcomes for the API process that waits, when the queue lives in PostgreSQL. Unlogged: nobody waits past a crash. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create unlogged table queue_replies (
            id bigint generated always as identity primary key,
            channel text not null,
            job text not null,
            body text not null,
            sent_at timestamptz not null default app_now()
        ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, toast.autovacuum_vacuum_threshold = 2000);
        create index queue_replies_channel on queue_replies (channel, id);
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('drop table queue_replies;');
}
