import type { Knex } from 'knex';

/** What all tables use: the clock, the guard of append-only tables, and revisions of rows. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(FUNCTIONS);
}

/** Of the whole baseline: there is nothing before it. */
export async function down(): Promise<void> {
    throw new Error('the baseline cannot be taken back: drop the database instead');
}

export const FUNCTIONS = `
    -- The only clock of stored times. PostgreSQL inlines it; tests replace it to move time.
    create or replace function app_now() returns timestamptz language sql stable as $$ select now() $$;

    create or replace function refuse_change() returns trigger language plpgsql
        as $$ begin raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation'; end $$;

    -- Anyone who read a row can tell later whether it is still the same.
    create or replace function raise_revision() returns trigger language plpgsql
        as $$ begin new.revision := old.revision + 1; return new; end $$;
`;
