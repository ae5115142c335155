import type { Knex } from 'knex';

/** Bonuses of contributions that are paid when a verification run of the domain passed: those after an account's first ones. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table owed_contributions (
            registrable text collate "C" primary key references domains,
            account_id text collate "C" not null references credit_accounts (id),
            owed_since timestamptz not null default app_now()
        );
        create index owed_contributions_of_account on owed_contributions (account_id);
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('drop table owed_contributions');
}
