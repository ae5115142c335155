import type { Knex } from 'knex';

/**
 * Mails that wait, with subject and text encrypted by the key ring. The table `mails` holds them in clear: processes of the release
 * before still write and send there, and newer ones only empty it, within nine hours.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table outgoing_mails (
            id bigint generated always as identity primary key,
            recipient text not null,
            sealed bytea not null,
            queued_at timestamptz not null default app_now(),
            due_at timestamptz not null default app_now(),
            attempts integer not null default 0
        );
        create index outgoing_mails_by_due on outgoing_mails (due_at);
        comment on column outgoing_mails.sealed is 'subject and text as JSON';
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('drop table outgoing_mails;');
}
