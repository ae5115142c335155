import type { Knex } from 'knex';

export { down } from './100_common.ts';

/**
 * Stores the endpoints of each tier together. A search with many matches reads hundreds of rows of the first tiers. Spread over the whole
 * table, most of them were not in memory. Copying a million endpoints takes about two minutes, in which finds and indexing wait.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        alter table endpoint_entries drop constraint endpoint_entries_endpoint_id_fkey;
        alter table endpoints rename to endpoints_in_one;
        alter table endpoints_in_one rename constraint endpoints_pkey to endpoints_in_one_pkey;
        alter table endpoints_in_one rename constraint endpoints_site_place_key to endpoints_in_one_site_place_key;
        drop index endpoints_search_0, endpoints_search_1, endpoints_search_2, endpoints_by_category, endpoints_writes;

        create sequence endpoint_ids owned by endpoint_entries.endpoint_id;
        select setval('endpoint_ids', (select coalesce(max(id), 0) + 1 from endpoints_in_one), false);
        alter table endpoint_entries alter endpoint_id set default nextval('endpoint_ids');

        create table endpoints (
            -- The key of a partitioned table contains the tier, so other tables refer to the entry. The default serves workers that still run
            -- the earlier release.
            id bigint not null default nextval('endpoint_ids') references endpoint_entries on delete cascade,
            site text collate "C" not null references sites,
            registrable text collate "C" not null references domains,
            version_id bigint not null references versions (id),
            -- Its position in the package.
            place integer not null,
            name text collate "C" not null,
            kind text not null,
            effect text not null check (effect in ('read', 'write')),
            intent_category text collate "C" not null,
            is_verified boolean not null,
            -- 0: a sample of one in 64; 1: a sample of one in 8; 2: the others. A search with many matches reads only the first tiers.
            tier smallint not null,
            -- Words, ideas and marks, each in its class (shared/domain/find/endpoint-words.ts).
            search tsvector not null,
            brevity real not null,
            needs_id boolean not null,
            -- Of the 7 days before the last roll-up.
            success_rate real,
            p95_ms integer,
            primary key (id, tier),
            unique (site, place, tier)
        ) partition by list (tier);
        -- Each search reads this column for hundreds of rows.
        alter table endpoints alter search set storage main;
        create table endpoints_0 partition of endpoints for values in (0) with (fillfactor = 90);
        create table endpoints_1 partition of endpoints for values in (1) with (fillfactor = 90);
        create table endpoints_2 partition of endpoints for values in (2) with (fillfactor = 90);

        insert into endpoints (id, site, registrable, version_id, place, name, kind, effect, intent_category, is_verified, tier, search, brevity,
                               needs_id, success_rate, p95_ms)
            select id, site, registrable, version_id, place, name, kind, effect, intent_category, is_verified, tier, search, brevity, needs_id,
                   success_rate, p95_ms
            from endpoints_in_one order by id;
        do $$
        begin
            if to_regclass('endpoint_vectors') is not null then
                alter table endpoint_vectors drop constraint endpoint_vectors_endpoint_id_fkey;
                alter table endpoint_vectors add foreign key (endpoint_id) references endpoint_entries on delete cascade;
            end if;
        end $$;
        drop table endpoints_in_one;

        create index endpoints_search on endpoints using gin (search) with (fastupdate = off);
        create index endpoints_by_category on endpoints (intent_category, site, place);
        create index endpoints_writes on endpoints (site, place) where effect = 'write';
        analyze endpoints;
    `);
}
