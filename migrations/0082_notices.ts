import type { Knex } from 'knex';

/** What people are told of by mail and on the dashboard, each once: the allowance, calls that all fail, payments. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table notices (
            id text collate "C" primary key check (id like 'ntc\\_%'),
            kind text not null check (kind in ('allowance_80', 'allowance_100', 'failing', 'payment_failed', 'plan_ended')),
            account_id text collate "C" not null,
            workspace_id text collate "C",
            user_id text collate "C",
            subject text not null,
            facts jsonb not null,
            at timestamptz not null default app_now(),
            ended_at timestamptz,
            dismissed_at timestamptz
        );
        comment on column notices.subject is 'what it is about, once: a period of the account; a key, site and endpoint; a billing date';
        comment on column notices.user_id is 'whom it concerns alone; null: whoever sees to the workspace';
        create unique index notices_once on notices (account_id, kind, subject) where ended_at is null;
        create index notices_of_workspace on notices (workspace_id, at);

        create table notice_watch (
            only_row boolean primary key default true check (only_row),
            looked_at timestamptz not null
        );
        insert into notice_watch (looked_at) values (app_now());
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('drop table notice_watch; drop table notices;');
}
