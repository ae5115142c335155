import type { Knex } from 'knex';

/**
 * What look-ups led to: which endpoint of a site was fetched with success by callers whose intent had a word in it. Words, never whole
 * intents, and only those of sessions that a fetch named.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        alter table catalog_sessions add words text[];

        create table intent_outcomes (
            site text collate "C" not null,
            word text collate "C" not null,
            endpoint text collate "C" not null,
            callers integer not null,
            last_at timestamptz not null,
            primary key (site, word, endpoint)
        );
        create index intent_outcomes_age on intent_outcomes (last_at);
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('drop table intent_outcomes; alter table catalog_sessions drop column words;');
}
