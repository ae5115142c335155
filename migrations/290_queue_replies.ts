import type { Knex } from 'knex';

export { down } from './100_common_functions.ts';

/** Outcomes that workers write for the waiting API process, if the queue is in PostgreSQL. Unlogged: after a crash no caller waits. */
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
