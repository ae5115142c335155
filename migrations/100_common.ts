import type { Knex } from 'knex';

/** What all tables use: the clock, the trigger that protects append-only tables, and revisions of rows. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(FUNCTIONS);
}

/** Fails: the baseline is the first state, so there is none to return to. */
export async function down(): Promise<void> {
    throw new Error('the baseline cannot be taken back: drop the database instead');
}

const FUNCTIONS = `
    -- The only clock of stored times. PostgreSQL inlines it; tests replace it to move time.
    create function app_now() returns timestamptz language sql stable as $$ select now() $$;

    create function refuse_change() returns trigger language plpgsql
        as $$ begin raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation'; end $$;

    -- Raises the revision of a changed row, so that a reader can tell later whether the row is still the same.
    create function raise_revision() returns trigger language plpgsql
        as $$ begin new.revision := old.revision + 1; return new; end $$;
`;
