import type { Knex } from 'knex';

/** Verification runs that go on: whose turn is next is told by how many of them each account has. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw('create index verifications_running on verifications (began_at) where ended_at is null and run > 0;');
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('drop index verifications_running;');
}
