-- Migration 0090 beforehand, for a database with many millions of rows in its request log: what the migration does in one transaction,
-- but with an index that is built while calls go on being recorded. Run it with psql while the old release runs, then `npm run migrate`.

begin;
create table usage_hours (
    workspace_id text collate "C" not null,
    hour timestamptz not null,
    user_id text collate "C" not null,
    account_id text collate "C" not null,
    key_id text collate "C" not null,
    site text collate "C" not null,
    endpoint text collate "C" not null,
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
commit;

-- Should this fail or be interrupted: drop index usage_workspace, and run the rest again.
create index concurrently usage_workspace on usage (workspace_id, at, id);

insert into migrations (name, batch, migration_time)
    select '0090_usage_hours.ts', coalesce(max(batch), 0) + 1, now() from migrations;
