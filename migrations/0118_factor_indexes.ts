import type { Knex } from 'knex';

/** Challenges and tickets of one user are counted, and dropped with the user's other second factors. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create index passkey_challenges_of_user on passkey_challenges (user_id, expires_at);
        create index sign_in_tickets_of_user on sign_in_tickets (user_id);
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('drop index sign_in_tickets_of_user; drop index passkey_challenges_of_user;');
}
