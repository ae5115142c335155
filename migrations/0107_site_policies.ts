import type { Knex } from 'knex';

/** What a domain's proved owner allows here, beside what an operator set; a domain is blocked where either of them says so. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        alter table domains
            add policy jsonb,
            add is_blocked boolean generated always as
                (blocked_at is not null or coalesce(policy @> '{"blocked": true}'::jsonb, false)) stored;
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('alter table domains drop is_blocked, drop policy;');
}
