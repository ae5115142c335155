import type { Knex } from 'knex';

export { down } from './100_common.ts';

/** Search index of latest versions. A site waits in `sites_to_index` until a worker has written the rows of its latest version. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        -- Migration 440 says what the columns hold, and stores the endpoints by tier.
        create table endpoints (
            id bigint generated always as identity primary key,
            site text collate "C" not null references sites,
            registrable text collate "C" not null references domains,
            version_id bigint not null references versions (id),
            place integer not null,
            name text collate "C" not null,
            kind text not null,
            effect text not null check (effect in ('read', 'write')),
            intent_category text collate "C" not null,
            is_verified boolean not null,
            tier smallint not null check (tier in (0, 1, 2)),
            search tsvector not null,
            brevity real not null,
            needs_id boolean not null,
            success_rate real,
            p95_ms integer,
            unique (site, place)
        ) with (fillfactor = 90);

        -- A search reads the words of hundreds of endpoints but shows ten. Rows without this JSON are half as large.
        create table endpoint_entries (
            endpoint_id bigint primary key references endpoints on delete cascade,
            -- What lists show (shared/domain/find/entry.ts).
            entry json not null
        );

        -- Words to correct mistyped words.
        create table endpoint_words (
            id bigint generated always as identity,
            word text collate "C" primary key
        );
        create index endpoint_words_slips on endpoint_words using gin (search_slips(array[word])) with (fastupdate = off);

        create table sites_to_index (
            id bigint generated always as identity primary key,
            site text collate "C" not null references sites
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
}
