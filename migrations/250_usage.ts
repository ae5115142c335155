import type { Knex } from 'knex';
import { pinSearchPath } from './100_common_functions.ts';

export { down } from './100_common_functions.ts';

/** The request log, the roll-ups written with it, and catalog look-ups. The log grows with each call, so it has few indexes. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        -- Partitioned by day (UTC): an old day is dropped instead of deleted row by row. A sequence, since PostgreSQL 15 does not allow an
        -- identity column in partitions.
        create sequence usage_id;
        create table usage (
            id bigint not null default nextval('usage_id'),
            at timestamptz not null,
            kind text not null check (kind in ('catalog', 'fetch')),
            operation text not null,
            account_id text,
            workspace_id text,
            user_id text,
            key_id text,
            -- For callers without a key: their address, hashed with caller_key.
            address_hash text,
            session_id text,
            site text not null,
            registrable text not null,
            endpoint text,
            version integer,
            outcome text not null,
            credits integer not null default 0,
            results integer,
            cached boolean not null default false,
            duration_ms integer not null,
            queue_ms integer,
            upstream_status integer,
            upstream_attempts integer,
            upstream_ms integer,
            upstream_bytes bigint,
            -- With it a person finds the call that belongs to an answer. Calls of jobs have their job's id.
            request_id text
        ) partition by range (at);
        alter sequence usage_id owned by usage.id;
        create index usage_account on usage (account_id, at);
        create index usage_workspace on usage (workspace_id, at, id);
        create index usage_at on usage using brin (at);

        -- Hourly sums for charts: a month with millions of calls is read quickly.
        create table usage_hours (
            workspace_id text collate "C" not null,
            hour timestamptz not null,
            user_id text collate "C" not null,
            account_id text collate "C" not null,
            key_id text collate "C" not null,
            site text collate "C" not null,
            -- '' for catalog look-ups, and for calls that were refused before their endpoint was known.
            endpoint text collate "C" not null,
            -- The duration of a success, as in endpoint_durations; -1 for a failure.
            bucket smallint not null,
            calls bigint not null,
            credits bigint not null,
            primary key (workspace_id, hour, user_id, account_id, key_id, site, endpoint, bucket)
        ) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
        create index usage_hours_account on usage_hours (account_id);
        create index usage_hours_hour on usage_hours using brin (hour);

        create table endpoint_days (
            site text not null,
            endpoint text not null,
            day date not null,
            successes bigint not null default 0,
            failures bigint not null default 0,
            last_success_at timestamptz,
            primary key (site, day, endpoint)
        );

        -- The number of successes by duration. Bucket n has durations up to 1.2 ^ n milliseconds (shared/store/usage/traffic.ts).
        create table endpoint_durations (
            site text not null,
            endpoint text not null,
            day date not null,
            bucket smallint not null,
            successes bigint not null,
            primary key (site, day, endpoint, bucket)
        );

        -- The same for whole sites, for lists of cards.
        create table site_durations (
            site text not null,
            day date not null,
            bucket smallint not null,
            successes bigint not null,
            primary key (site, day, bucket)
        );

        create table catalog_sessions (
            id text primary key,
            -- Null: a search over all sites.
            site text,
            account_id text,
            -- Words of the caller's intent. The intent itself is never stored.
            words text[],
            at timestamptz not null
        );
        create index catalog_sessions_at on catalog_sessions using brin (at);

        -- Which endpoint of a site was fetched successfully by callers with this word in their intent. Counts only sessions that a fetch
        -- named.
        create table intent_outcomes (
            site text collate "C" not null,
            word text collate "C" not null,
            endpoint text collate "C" not null,
            callers integer not null,
            last_at timestamptz not null,
            primary key (site, word, endpoint)
        );
        create index intent_outcomes_age on intent_outcomes (last_at);
    `);
    await knex.raw(FUNCTIONS);
    await knex.raw('select usage_make_days(app_now())');
}

/** These functions run with the rights of the owner, since APIs and workers may not create or drop anything else. */
const FUNCTIONS = `
    create function usage_partitions() returns table (part regclass, since timestamptz, until timestamptz)
        language sql stable as $$
        select c.oid::regclass, coalesce(substring(b.bound from $re$FROM \\('([^']+)'\\)$re$)::timestamptz, '-infinity'),
               substring(b.bound from $re$TO \\('([^']+)'\\)$re$)::timestamptz
        from pg_inherits i join pg_class c on c.oid = i.inhrelid
        cross join lateral (select pg_get_expr(c.relpartbound, c.oid) as bound) as b
        where i.inhparent = 'usage'::regclass
    $$;

    -- Creates the missing days from p_since to three days ahead. There is no default partition: each new day would have to scan its rows
    -- under a lock.
    create function usage_make_days(p_since timestamptz) returns void language plpgsql security definer
        set lock_timeout = '1s' as $$
    declare
        starts timestamptz := date_trunc('day', greatest(p_since, app_now() - interval '100 days'), 'UTC');
        ends timestamptz;
        part text;
    begin
        perform pg_advisory_xact_lock(hashtext('usage_make_days'));
        while starts < app_now() + interval '72 hours' loop
            ends := starts + interval '24 hours';
            if not exists (select from usage_partitions() as p where p.since < ends and p.until > starts) then
                part := 'usage_' || to_char(starts at time zone 'UTC', 'YYYY_MM_DD');
                -- Attaching blocks neither readers nor writers; "create table ... partition of" would.
                execute format('create table %I (like usage including all)', part);
                execute format('alter table usage attach partition %I for values from (%L) to (%L)', part, starts, ends);
            end if;
            starts := ends;
        end loop;
    end $$;

    -- Drops the partitions that ended p_days ago, and returns how many. They stay while a long read of the log is running.
    create function usage_drop_days(p_days integer) returns integer language plpgsql security definer
        set lock_timeout = '200ms' as $$
    declare
        past regclass;
        dropped integer := 0;
    begin
        if not has_table_privilege(session_user, 'usage', 'delete') then
            raise insufficient_privilege using message = 'dropping days of the request log needs the right to delete from usage';
        end if;
        for past in select part from usage_partitions() where until <= app_now() - p_days * interval '1 day' order by until loop
            execute format('drop table %s', past);
            dropped := dropped + 1;
        end loop;
        return dropped;
    exception when lock_not_available then
        return 0;
    end $$;

    ${pinSearchPath('usage_make_days(timestamptz)', 'usage_drop_days(integer)')}`;
