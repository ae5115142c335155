import type { Knex } from 'knex';

/** What other migrations and statements use: the clock, triggers for append-only tables and revisions, and a way out of a statement. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(FUNCTIONS);
}

/** Fails: the baseline is the first state, so there is none to return to. */
export async function down(): Promise<void> {
    throw new Error('the baseline cannot be taken back: drop the database instead');
}

/** SQL that lets functions with the rights of the owner find our tables, whatever `search_path` their caller has. */
export function pinSearchPath(...functions: readonly string[]): string {
    return `
    do $$
    declare
        name text;
    begin
        foreach name in array array['${functions.join("', '")}'] loop
            execute format('alter function %s set search_path = %I, pg_temp', name, current_schema());
        end loop;
    end $$;
`;
}

const FUNCTIONS = `
    -- The only clock of stored times. PostgreSQL inlines it; tests replace it to move time.
    create function app_now() returns timestamptz language sql stable as $$ select now() $$;

    create function refuse_change() returns trigger language plpgsql
        as $$ begin raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation'; end $$;

    -- Raises the revision of a changed row, so that a reader can tell later whether the row is still the same.
    create function raise_revision() returns trigger language plpgsql
        as $$ begin new.revision := old.revision + 1; return new; end $$;

    -- Lets one statement change its mind after it has locked what it has to read: it fails, and PostgreSQL takes back all of it.
    create function undo_if(p_undo boolean) returns boolean language plpgsql as $$
    begin
        if p_undo then
            raise exception 'undone by its own condition' using errcode = 'triggered_action_exception';
        end if;
        return true;
    end $$;
`;
