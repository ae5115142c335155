import type { Knex } from 'knex';

/** What GET /v1/events needs in addition: the end of the feed, and the workspaces that the events of a site concern. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create unique index events_position on events (position) where position is not null;

        -- Who fetched a site successfully, and the last day of it. The site's events concern them for 30 days.
        create table site_callers (
            site text collate "C" not null,
            workspace_id text collate "C" not null,
            day date not null,
            primary key (workspace_id, site)
        );
        create index site_callers_day on site_callers (day);
        insert into site_callers
            select site, workspace_id, max((hour at time zone 'UTC')::date) from usage_hours
            where endpoint <> '' and bucket >= 0 and hour > app_now() - interval '30 days' group by 1, 2;
        analyze site_callers;
    `);
}

/** Events stay, but no list shows them. */
export async function down(knex: Knex): Promise<void> {
    await knex.raw('drop table site_callers; drop index events_position');
}
