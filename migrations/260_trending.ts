import type { Knex } from 'knex';

export { down } from './100_common_functions.ts';

/** What is used most, ranked each hour. Ranks of a day stay, so that a reader who pages through a list keeps its order. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
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
            -- Outcomes of the request log until this time are counted.
            learnt_until timestamptz not null
        );

        create table trending_sites (
            rollup_id bigint not null references trending_rollups on delete cascade,
            period text not null check (period in ('24h', '7d', '30d')),
            rank integer not null,
            site text collate "C" not null,
            -- Repeated here, so that the best sites of a category are found without reading all others.
            intent_category text not null default '',
            fetches integer not null,
            lookups integer not null,
            score double precision not null,
            primary key (rollup_id, period, rank),
            unique (rollup_id, period, site)
        );
        create index trending_sites_category on trending_sites (rollup_id, intent_category, rank) where period = '7d';
    `);
}
