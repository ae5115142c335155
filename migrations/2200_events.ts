import type { Knex } from 'knex';

/**
 * Events for webhooks and GET /v1/events. An event is written in the transaction of the change, without a position. Later a worker gives it
 * the next position and creates its deliveries ("spreads" it). Only one worker spreads at a time, so that a reader of positions misses no
 * event that commits late.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table events (
            id text collate "C" primary key check (id like 'evt\\_%'),
            type text collate "C" not null,
            -- Who receives it: one of these four.
            workspace_id text collate "C",
            -- All workspaces of an account.
            account_id text collate "C",
            -- The workspaces that maintain or fetched a site.
            site text collate "C",
            -- Only one webhook.
            webhook_id text collate "C",
            at timestamptz not null default app_now(),
            -- JSON in its original text, so that numbers keep their digits.
            data text not null,
            -- The id of the row that is read when a body is built, such as a job for its result.
            about text collate "C",
            position bigint,
            has_deliveries boolean not null default false,
            check (num_nonnulls(workspace_id, account_id, site, webhook_id) = 1)
        ) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
        create sequence event_positions;
        create index events_waiting on events (at) where position is null;
        create index events_of_workspace on events (workspace_id, position) where workspace_id is not null;
        create index events_of_account on events (account_id, position) where account_id is not null;
        create index events_of_site on events (position) where site is not null;
        create index events_at on events (at);

        alter table notices drop constraint notices_kind_check, add constraint notices_kind_check check (kind in
            ('allowance_80', 'allowance_100', 'failing', 'payment_failed', 'plan_ended', 'credits_low', 'credits_exhausted'));
    `);
}

/** Undelivered events are lost. */
export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        drop table events;
        drop sequence event_positions;
        delete from notices where kind in ('credits_low', 'credits_exhausted');
        alter table notices drop constraint notices_kind_check, add constraint notices_kind_check check (kind in
            ('allowance_80', 'allowance_100', 'failing', 'payment_failed', 'plan_ended'));
    `);
}
