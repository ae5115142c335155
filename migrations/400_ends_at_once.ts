import type { Knex } from 'knex';

export { down } from './100_common.ts';

/** Lets one statement change its mind after it has locked what it has to read: it fails, and PostgreSQL takes back all of it. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create function undo_if(p_undo boolean) returns boolean language plpgsql as $$
        begin
            if p_undo then
                raise exception 'undone by its own condition' using errcode = 'triggered_action_exception';
            end if;
            return true;
        end $$;
    `);
}
