import type { Knex } from 'knex';

/**
 * What sites are found by (shared/domain/search-text.ts): a label and lexemes, written by whoever writes title and name; the words
 * there are, for words that were mistyped; and the indexes that lists walk along. No index here waits in a pending list, since
 * searches would have to read that too.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        -- search_rules 0: not indexed yet; the sweeper does it.
        alter table sites
            add label text collate "C" not null default '',
            add search tsvector not null default '',
            add search_rules smallint not null default 0;
        create index sites_search on sites using gin (search) with (fastupdate = off);

        create index sites_by_label on sites (label, site) where latest_version_id is not null;
        create index sites_by_leaf on sites (intent_category, site) where latest_version_id is not null;
        create index sites_by_parent on sites (split_part(intent_category, '/', 1), site) where latest_version_id is not null;
        create index sites_by_publication on sites (published_at desc, site) where latest_version_id is not null;
        create index sites_by_verification on sites (verified_at desc, site)
            where latest_version_id is not null and verified_at is not null;
        create index sites_verified on sites (site) where latest_version_id is not null and verified_at is not null;
        create index sites_unverified on sites (site) where latest_version_id is not null and verified_at is null;
    `);
    await knex.raw(WORDS);
    await knex.raw(TALLIES);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        drop trigger sites_tally on sites;
        drop function site_tally();
        drop table site_tallies;
        drop table search_words;
        drop function search_slips(text[]);
        drop index sites_search, sites_by_label, sites_by_leaf, sites_by_parent, sites_by_publication, sites_by_verification,
            sites_verified, sites_unverified;
        alter table sites drop column label, drop column search, drop column search_rules;
    `);
}

/**
 * The beginnings of words, whole and with each one character left out: two words that are one slip apart (one character more, less,
 * changed or swapped with its neighbour) have one of these in common. That is an equality, which an index finds at once, on every
 * server, in every locale.
 */
const WORDS = `
    create function search_slips(p_words text[]) returns text[] language sql immutable parallel safe as $$
        select coalesce(array_agg(distinct left(head, place - 1) || substr(head, place + 1)), '{}')
        from (select left(word, 6) as head from unnest(p_words) as w (word)) as heads,
             generate_series(1, char_length(head) + 1) as place
    $$;

    create table search_words (
        id bigint generated always as identity,
        word text collate "C" primary key
    );
    create index search_words_slips on search_words using gin (search_slips(array[word])) with (fastupdate = off);
`;

/**
 * How many sites a category has, verified and not: counting them would cost every list more the more there are. Each change is a row
 * of its own, so that publishers do not wait for each other; the sweeper adds them up.
 */
const TALLIES = `
    create table site_tallies (
        intent_category text not null,
        is_verified boolean not null,
        sites integer not null
    );
    insert into site_tallies
        select intent_category, verified_at is not null, count(*) from sites where latest_version_id is not null group by 1, 2;

    create function site_tally() returns trigger language plpgsql as $$
    begin
        if tg_op = 'UPDATE' and (old.latest_version_id is null, old.intent_category, old.verified_at is null)
            is not distinct from (new.latest_version_id is null, new.intent_category, new.verified_at is null) then
            return null;
        end if;
        if tg_op <> 'INSERT' and old.latest_version_id is not null then
            insert into site_tallies values (old.intent_category, old.verified_at is not null, -1);
        end if;
        if tg_op <> 'DELETE' and new.latest_version_id is not null then
            insert into site_tallies values (new.intent_category, new.verified_at is not null, 1);
        end if;
        return null;
    end $$;
    create trigger sites_tally after insert or delete or update of latest_version_id, intent_category, verified_at on sites
        for each row execute function site_tally();
`;
