import type { Knex } from 'knex';

export { down } from './1000_common.ts';

/**
 * The request log, its roll-ups, and catalog look-ups with their outcomes. The log has few indexes, since it grows with each call. Its
 * roll-ups are written together with it.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table usage (
            id bigint generated always as identity primary key,
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
            upstream_bytes bigint
        );
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

        -- The number of successes by duration. Bucket n has durations up to 1.2 ^ n milliseconds (shared/store/usage/durations.ts).
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
            site text not null,
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
}
