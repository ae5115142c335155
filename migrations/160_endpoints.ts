import type { Knex } from 'knex';
import { pinSearchPath } from './100_common_functions.ts';

export { down } from './100_common_functions.ts';

/** Search index of latest versions. A site waits in `sites_to_index` until a worker has written the rows of its latest version. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        -- Numbers endpoints. Other tables refer to the entry, because the key of a partitioned table contains the tier.
        create sequence endpoint_ids;

        -- A search reads the words of hundreds of endpoints but shows ten. Rows without this JSON are half as large.
        create table endpoint_entries (
            endpoint_id bigint primary key,
            -- What lists show (shared/domain/find/entry.ts).
            entry json not null
        );

        -- Each tier is stored together: a search with many matches reads hundreds of rows of the first tiers.
        create table endpoints (
            id bigint not null default nextval('endpoint_ids') references endpoint_entries,
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
            -- 0: a sample of one in 64; 1: a sample of one in 8; 2: the others. It is computed from site and name.
            tier smallint not null,
            -- Words, ideas and marks, each in its class (shared/domain/find/endpoint-words.ts).
            search tsvector not null,
            -- What its words mean (shared/domain/find/word-vectors.ts).
            direction text collate "C",
            brevity real not null,
            needs_id boolean not null,
            -- Of the 7 days before the last roll-up.
            success_rate real,
            p95_ms integer,
            primary key (id, tier),
            unique (site, place, tier)
        ) partition by list (tier);
        alter sequence endpoint_ids owned by endpoints.id;
        -- Each search reads this column for hundreds of rows.
        alter table endpoints alter search set storage main;
        create table endpoints_0 partition of endpoints for values in (0) with (fillfactor = 90);
        create table endpoints_1 partition of endpoints for values in (1) with (fillfactor = 90);
        create table endpoints_2 partition of endpoints for values in (2) with (fillfactor = 90);
        create index endpoints_words on endpoints using gin (search) with (fastupdate = off);
        create index endpoints_of_category on endpoints (intent_category, site, place);
        create index endpoints_that_write on endpoints (site, place) where effect = 'write';

        -- Words to correct mistyped words.
        create table endpoint_words (
            id bigint generated always as identity,
            word text collate "C" primary key
        );
        create index endpoint_words_slips on endpoint_words using gin (search_slips(array[word])) with (fastupdate = off);

        create table sites_to_index (
            id bigint generated always as identity primary key,
            site text collate "C" not null references sites,
            -- A site that could not be indexed waits before it is tried again.
            due_at timestamptz not null default app_now()
        );
        create function site_to_index() returns trigger language plpgsql as $$
        begin
            insert into sites_to_index (site) values (new.site);
            return null;
        end $$;
        create trigger sites_inserted_to_index after insert on sites
            for each row when (new.latest_version_id is not null) execute function site_to_index();
        create trigger sites_updated_to_index after update of latest_version_id on sites
            for each row when (new.latest_version_id is distinct from old.latest_version_id) execute function site_to_index();

        -- The rules by which endpoints are indexed (FIND_RULES). Sites of older rules are indexed again.
        create table endpoint_rules (is_only boolean primary key default true check (is_only), rules integer not null);
        insert into endpoint_rules (rules) values (0);
        analyze endpoint_rules;

        -- Endpoints that were chosen from lists and called successfully, by the words of the task.
        -- An account counts once a day and endpoint. Words are kept for 90 days, tasks never.
        create table find_choices (
            site text collate "C" not null,
            endpoint text collate "C" not null,
            word text collate "C" not null,
            account_id text not null,
            day date not null,
            primary key (site, endpoint, word, account_id, day)
        );
        create index find_choices_day on find_choices (day);

        -- Counts of the last roll-up, for choices of at least five accounts.
        create table find_choice_counts (
            site text collate "C" not null,
            endpoint text collate "C" not null,
            word text collate "C" not null,
            choices integer not null,
            primary key (site, endpoint, word)
        );

        -- The model of the vectors of endpoints, and the sites that wait for vectors. The vectors need an extension that may be missing, so
        -- \`admin embeddings rebuild\` creates their table. Without a row in \`embedding_model\` nothing waits.
        create table embedding_model (
            is_only boolean primary key default true check (is_only),
            model text not null,
            -- The dimensions of a vector.
            size integer not null
        );
        create table sites_to_embed (
            site text collate "C" primary key references sites,
            -- Rises when the site is indexed again, so that a worker with the earlier revision does not remove it from the list.
            revision integer not null default 0,
            due_at timestamptz not null default app_now()
        );
    `);
    await knex.raw(FUNCTIONS);
}

/** These functions run with the rights of the owner, and not with those of APIs and workers. */
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
    ${pinSearchPath('endpoints_removed()', 'endpoints_analyze()')}`;
