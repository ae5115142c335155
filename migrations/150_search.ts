import type { Knex } from 'knex';

export { down } from './100_common_functions.ts';

/** The words of all sites, to correct mistyped words, and the number of sites in each category. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(FUNCTIONS);
    await knex.raw(`
        create table search_words (
            id bigint generated always as identity,
            word text collate "C" primary key
        );
        create index search_words_slips on search_words using gin (search_slips(array[word])) with (fastupdate = off);

        -- Each change adds a row, so that publishers do not wait for each other. The sweeper sums the rows. Each list reads this table, so
        -- it is vacuumed early.
        create table site_tallies (
            intent_category text not null,
            is_verified boolean not null,
            sites integer not null
        ) with (
            autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0,
            autovacuum_analyze_threshold = 500, autovacuum_analyze_scale_factor = 0
        );
        create trigger sites_tally after insert or delete or update of latest_version_id, intent_category, verified_at on sites
            for each row execute function site_tally();
    `);
}

const FUNCTIONS = `
    -- The beginnings of words, whole and with each character left out. Two words that differ by one slip (an added, missing, changed or
    -- swapped character) share one of them. An index finds shared ones in every locale.
    create function search_slips(p_words text[]) returns text[] language sql immutable parallel safe as $$
        select coalesce(array_agg(distinct left(head, place - 1) || substr(head, place + 1)), '{}')
        from (select left(word, 6) as head from unnest(p_words) as w (word)) as heads,
             generate_series(1, char_length(head) + 1) as place
    $$;

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
`;
