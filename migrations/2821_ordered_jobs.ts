import type { Knex } from 'knex';

/** What an account ordered per day (UTC). Jobs that end early, such as cancelled ones, stay stored and need a limit too. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        alter table job_accounts
            add ordered_on date not null default '-infinity',
            add ordered_items bigint not null default 0,
            add ordered_bytes bigint not null default 0;
        analyze job_accounts;
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('alter table job_accounts drop column ordered_on, drop column ordered_items, drop column ordered_bytes');
}
