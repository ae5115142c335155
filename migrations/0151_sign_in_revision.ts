import type { Knex } from 'knex';

/** Sign-ins that are under way while every session of their user is ended begin none. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        alter table users add column sign_in_revision bigint not null default 0;
        comment on column users.sign_in_revision is 'raised by whatever ends sessions: a sign-in that was judged at an earlier one begins none';
        alter table sign_in_tickets add column revision bigint not null default 0;
        comment on column sign_in_tickets.revision is 'users.sign_in_revision when the password was judged';
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        alter table sign_in_tickets drop column revision;
        alter table users drop column sign_in_revision;
    `);
}
