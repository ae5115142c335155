import type { Knex } from 'knex';

export { down } from './100_common_functions.ts';

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
        create unique index events_position on events (position) where position is not null;
        create index events_waiting_of_account on events (at, id) where position is null and site is null;
        create index events_waiting_of_site on events (at, id) where position is null and site is not null;
        create index events_of_workspace on events (workspace_id, position) where workspace_id is not null;
        create index events_of_account on events (account_id, position) where account_id is not null;
        create index events_of_site on events (position) where site is not null;
        -- A reader of the feed finds the events of its sites without reading those of all others.
        create index events_by_site on events (site, position) where site is not null;
        create index events_at on events (at);

        -- Who fetched a site successfully, and the last day of it. The site's events concern them for 30 days.
        create table site_callers (
            site text collate "C" not null,
            workspace_id text collate "C" not null,
            day date not null,
            primary key (workspace_id, site)
        );
        create index site_callers_day on site_callers (day);
        create index site_callers_of_site on site_callers (site, day);
    `);
}
