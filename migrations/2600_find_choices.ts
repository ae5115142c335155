import type { Knex } from 'knex';

/** Endpoints that were chosen from lists and called successfully, by the words of the task. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        -- Null: the session of a search over all sites.
        alter table catalog_sessions alter column site drop not null;

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
    `);
}

/** The learnt choices are lost. */
export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        drop table find_choice_counts, find_choices;
        delete from catalog_sessions where site is null;
        alter table catalog_sessions alter column site set not null;
    `);
}
