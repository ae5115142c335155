import type { Knex } from 'knex';

/** What an operator allows on a domain, beside its owner's policy; of both the strictest holds. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw('alter table domains add operator_policy jsonb;');
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('alter table domains drop operator_policy;');
}
