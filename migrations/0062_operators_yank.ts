import type { Knex } from 'knex';

/** Whether an operator yanked a version: a maintainer does not put back what was taken out of use for security or legal reasons. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        alter table versions
            add yanked_by_operator boolean not null default false,
            add check (yanked_at is not null or not yanked_by_operator);
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('alter table versions drop column yanked_by_operator;');
}
