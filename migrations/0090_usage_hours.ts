import type { Knex } from 'knex';

/**
 * What the pages of a workspace show of its calls. Charts read hours that are rolled up together with the log, so that a month of
 * millions of calls is read in a moment; the log itself is walked by workspace, newest first.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table usage_hours (
            workspace_id text collate "C" not null,
            hour timestamptz not null,
            user_id text collate "C" not null,
            account_id text collate "C" not null,
            key_id text collate "C" not null,
            site text collate "C" not null,
            -- '' for look-ups in the catalog, and for calls that were refused before their endpoint was known.
            endpoint text collate "C" not null,
            -- How long a success took, as in endpoint_durations; -1 for what did not succeed.
            bucket smallint not null,
            calls bigint not null,
            credits bigint not null,
            primary key (workspace_id, hour, user_id, account_id, key_id, site, endpoint, bucket)
        ) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
        create index usage_hours_account on usage_hours (account_id);
        create index usage_hours_hour on usage_hours using brin (hour);

        insert into usage_hours
            select workspace_id, date_trunc('hour', at, 'UTC'), coalesce(user_id, ''), coalesce(account_id, ''), coalesce(key_id, ''),
                   site, coalesce(endpoint, ''),
                   case when outcome <> 'success' then -1 when duration_ms <= 1 then 0 else ceil(ln(duration_ms) / ln(1.2)) end,
                   count(*), sum(credits)
            from usage where workspace_id is not null group by 1, 2, 3, 4, 5, 6, 7, 8;

        create index usage_workspace on usage (workspace_id, at, id);
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('drop index usage_workspace; drop table usage_hours;');
}
