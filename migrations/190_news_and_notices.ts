import type { Knex } from 'knex';

export { down } from './100_common_functions.ts';

/** Messages to people, by mail and on the dashboard. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        -- News for the owners of a workspace about the sites it maintains. News of one domain or one topic share a mail, at most one an
        -- hour.
        create table workspace_news (
            id bigint generated always as identity primary key,
            workspace_id text collate "C" not null references workspaces (id),
            domain text collate "C" not null,
            -- The domain, or 'added'.
            topic text collate "C" not null,
            subject text not null,
            line text not null,
            -- If set, the mail ends with the link that stops this removal of a maintainer.
            removal_id text collate "C",
            at timestamptz not null default app_now(),
            mailed_at timestamptz
        );
        create index workspace_news_waiting on workspace_news (workspace_id, topic, id) where mailed_at is null;
        create index workspace_news_mailed on workspace_news (workspace_id, topic, mailed_at) where mailed_at is not null;

        create table notices (
            id text collate "C" primary key check (id like 'ntc\\_%'),
            kind text not null check (kind in ('allowance_80', 'allowance_100', 'failing', 'payment_failed', 'plan_ended',
                                               'credits_low', 'credits_exhausted')),
            account_id text collate "C" not null,
            workspace_id text collate "C",
            -- The only user it concerns; null: everybody who manages the workspace.
            user_id text collate "C",
            -- Each subject is reported once. It is a period of the account; a key, site and endpoint; or a billing date.
            subject text not null,
            facts jsonb not null,
            at timestamptz not null default app_now(),
            ended_at timestamptz,
            dismissed_at timestamptz
        );
        create unique index notices_once on notices (account_id, kind, subject) where ended_at is null;
        create index notices_of_workspace on notices (workspace_id, at);

        create table notice_watch (
            only_row boolean primary key default true check (only_row),
            looked_at timestamptz not null
        );
        insert into notice_watch (looked_at) values (app_now());
        analyze notice_watch;
    `);
}
