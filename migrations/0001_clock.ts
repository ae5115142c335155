import type { Knex } from 'knex';

/** `app_now()` is the only clock of stored times; its offset is 0 in production and moved by tests. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table app_clock (
            only_row boolean primary key default true check (only_row),
            time_offset interval not null default '0'
        );
        insert into app_clock default values;
        create function app_now() returns timestamptz language sql stable
            as $$ select now() + time_offset from app_clock $$;
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('drop function app_now(); drop table app_clock;');
}
