import type { Knex } from 'knex';

export { down } from './100_common.ts';

/**
 * Stores the endpoints of each tier together. A search with many matches reads hundreds of rows of the first tiers; spread over the whole
 * table, most of them were not in memory. While the rows are copied, about 10,000 a second, finds go on; publishing, yanks and verification
 * wait. The earlier table is dropped by the next migration, because the drop locks the tables to which it refers.
 */
export async function up(knex: Knex): Promise<void> {
    // Gives up before PostgreSQL looks for deadlocks, so that no call is ended. Nothing is lost then: run it again.
    await knex.raw("set local lock_timeout = '900ms'");
    await knex.raw('lock table versions, sites, domains, endpoints, endpoint_entries in share row exclusive mode');
    await knex.raw('set local lock_timeout = 0');
    await knex.raw(CREATE);
    await knex.raw(COPY);
    await knex.raw(CONSTRAIN);
    await knex.raw(SWAP);
    await knex.raw(FUNCTIONS);
}

const CREATE = `
    create sequence endpoint_ids;
    select setval('endpoint_ids', (select coalesce(max(id), 0) + 1 from endpoints), false);

    create table endpoints_by_tier (
        -- The default serves workers of the earlier release. Other tables refer to the entry, because the key of a partitioned table
        -- contains the tier.
        id bigint not null default nextval('endpoint_ids'),
        site text collate "C" not null,
        registrable text collate "C" not null,
        version_id bigint not null,
        -- Its position in the package.
        place integer not null,
        name text collate "C" not null,
        kind text not null,
        effect text not null check (effect in ('read', 'write')),
        intent_category text collate "C" not null,
        is_verified boolean not null,
        -- 0: a sample of one in 64; 1: a sample of one in 8; 2: the others. It is computed from site and name.
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
    alter sequence endpoint_ids owned by endpoints_by_tier.id;
    -- Each search reads this column for hundreds of rows.
    alter table endpoints_by_tier alter search set storage main;
    create table endpoints_0 partition of endpoints_by_tier for values in (0) with (fillfactor = 90);
    create table endpoints_1 partition of endpoints_by_tier for values in (1) with (fillfactor = 90);
    create table endpoints_2 partition of endpoints_by_tier for values in (2) with (fillfactor = 90);
`;

const COPY = `
    insert into endpoints_by_tier (id, site, registrable, version_id, place, name, kind, effect, intent_category, is_verified, tier, search,
                                   brevity, needs_id, success_rate, p95_ms)
    select id, site, registrable, version_id, place, name, kind, effect, intent_category, is_verified, tier, search, brevity, needs_id,
           success_rate, p95_ms
    from endpoints order by id;
`;

/** References are checked after the copy, as a whole: for each copied row, a yank that waits for this migration would make it wait too. */
const CONSTRAIN = `
    alter table endpoints_by_tier add foreign key (id) references endpoint_entries;
    alter table endpoints_by_tier add foreign key (site) references sites;
    alter table endpoints_by_tier add foreign key (registrable) references domains;
    alter table endpoints_by_tier add foreign key (version_id) references versions (id);
    create index endpoints_words on endpoints_by_tier using gin (search) with (fastupdate = off);
    create index endpoints_of_category on endpoints_by_tier (intent_category, site, place);
    create index endpoints_that_write on endpoints_by_tier (site, place) where effect = 'write';
    analyze endpoints_by_tier;
`;

/** Locks in the order of a find by vectors. Also gives the roles of the earlier table its rights. */
const SWAP = `
    do $$ begin
        if to_regclass('endpoint_vectors') is not null then
            lock table endpoint_vectors in access exclusive mode;
        end if;
    end $$;
    lock table endpoints, endpoint_entries in access exclusive mode;
    alter table endpoint_entries drop constraint endpoint_entries_endpoint_id_fkey;
    do $$
    declare
        given record;
    begin
        if to_regclass('endpoint_vectors') is not null then
            alter table endpoint_vectors drop constraint endpoint_vectors_endpoint_id_fkey;
            alter table endpoint_vectors add foreign key (endpoint_id) references endpoint_entries on delete cascade;
        end if;
        for given in
            select case a.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(a.grantee)) end as role, a.privilege_type as kind
            from pg_class c, aclexplode(c.relacl) a where c.oid = 'endpoints'::regclass and a.grantee <> c.relowner
        loop
            execute format('grant %s on endpoints_by_tier to %s', given.kind, given.role);
            execute format('grant usage on sequence endpoint_ids to %s', given.role);
        end loop;
    end $$;
    alter table endpoints rename to endpoints_in_one;
    alter table endpoints_by_tier rename to endpoints;
`;

const FUNCTIONS = `
    create function endpoints_removed() returns trigger language plpgsql security definer as $$
    begin
        delete from endpoint_entries where endpoint_id in (select id from removed);
        return null;
    end $$;
    create trigger endpoints_removed after delete on endpoints referencing old table as removed
        for each statement execute function endpoints_removed();

    -- PostgreSQL analyzes partitions by itself, but never the whole table. Only the owner of a table may analyze it.
    create function endpoints_analyze() returns void language plpgsql security definer as $$
    begin
        if not has_table_privilege(session_user, 'endpoints', 'update') then
            raise insufficient_privilege using message = 'analyzing endpoints needs the right to update them';
        end if;
        analyze endpoints;
    end $$;
    do $$
    declare
        name text;
    begin
        foreach name in array array['endpoints_removed()', 'endpoints_analyze()'] loop
            execute format('alter function %s set search_path = %I, pg_temp', name, current_schema());
        end loop;
    end $$;
`;
