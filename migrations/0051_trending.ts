import type { Knex } from 'knex';

/**
 * What is used most. Once an hour the request log is rolled up: by day and site first, since days do not change any more when they are
 * over, then into ranks. Ranks of a day stay, so that whoever walks through a list keeps the order in which it began.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        -- Callers without a key are told apart by a hash of their address that nobody can turn back without this.
        create table caller_key (
            is_only boolean primary key default true check (is_only),
            key bytea not null
        );
        insert into caller_key (key) values (sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')));

        alter table usage add address_hash text;

        create table trending_days (
            day date not null,
            site text collate "C" not null,
            fetches integer not null,
            lookups integer not null,
            score double precision not null,
            primary key (day, site)
        );

        create table trending_rollups (
            id bigint generated always as identity primary key,
            hour timestamptz not null unique,
            -- Outcomes of the request log are learnt from up to here.
            learnt_until timestamptz not null
        );

        create table trending_sites (
            rollup_id bigint not null references trending_rollups on delete cascade,
            period text not null check (period in ('24h', '7d', '30d')),
            rank integer not null,
            site text collate "C" not null,
            fetches integer not null,
            lookups integer not null,
            score double precision not null,
            primary key (rollup_id, period, rank),
            unique (rollup_id, period, site)
        );
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        drop table trending_sites;
        drop table trending_rollups;
        drop table trending_days;
        alter table usage drop column address_hash;
        drop table caller_key;
    `);
}
