import type { Knex } from 'knex';

/**
 * How many signed up on a day from one range of addresses, or with one mail domain: past a bound their inviters earn nothing. Kept for
 * that day, and without who it was: the origin is a hash of the range or the domain.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table sign_ups_of_a_day (
            day date not null,
            origin bytea not null check (octet_length(origin) = 32),
            sign_ups integer not null,
            primary key (day, origin)
        );
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('drop table sign_ups_of_a_day');
}
