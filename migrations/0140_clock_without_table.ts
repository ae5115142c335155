import type { Knex } from 'knex';

/**
 * `app_now()` becomes an expression that PostgreSQL inlines. Reading its offset from a table cost a scan in each statement, and with
 * `enable_seqscan = off` that scan's estimate of 10^10 had every hold and charge compiled by JIT: 11 ms each on a stock PostgreSQL 15.
 * Tests move the clock by replacing the function (`test/support/clock.ts`).
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create or replace function app_now() returns timestamptz language sql stable as $$ select now() $$;
        create or replace function fleet_now() returns timestamptz language sql stable as $$ select now() $$;
        drop table app_clock;
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        create table app_clock (
            only_row boolean primary key default true check (only_row),
            time_offset interval not null default '0'
        );
        insert into app_clock default values;
        create or replace function app_now() returns timestamptz language sql stable
            as $$ select now() + time_offset from app_clock $$;
        create or replace function fleet_now() returns timestamptz language sql stable
            as $$ select app_now() - time_offset from app_clock $$;
    `);
}
