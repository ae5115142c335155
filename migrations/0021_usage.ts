import type { Knex } from 'knex';

/**
 * The request log and its roll-ups. The log has few indexes, since it grows by every call; what cards and the catalog show
 * of the last seven days is kept by endpoint and day, written together with the log.
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
        create index usage_at on usage using brin (at);

        create table endpoint_days (
            site text not null,
            endpoint text not null,
            day date not null,
            successes bigint not null default 0,
            failures bigint not null default 0,
            last_success_at timestamptz,
            primary key (site, day, endpoint)
        );

        -- How many successes took how long: bucket n holds durations up to 1.2 ^ n milliseconds (shared/store/durations.ts).
        create table endpoint_durations (
            site text not null,
            endpoint text not null,
            day date not null,
            bucket smallint not null,
            successes bigint not null,
            primary key (site, day, endpoint, bucket)
        );

        create table catalog_sessions (
            id text primary key,
            site text not null,
            account_id text,
            at timestamptz not null
        );
        create index catalog_sessions_at on catalog_sessions using brin (at);
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('drop table catalog_sessions; drop table endpoint_durations; drop table endpoint_days; drop table usage;');
}
