import type { Knex } from 'knex';

/** What the names of registrable domains look like (shared/domain/look-alike.ts), so that one that could be taken for another is found. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        alter table domains add skeleton text collate "C";
        create index domains_skeleton on domains (skeleton) where skeleton is not null;
        create index versions_of_starter on versions (site) where origin = 'starter';
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        drop index versions_of_starter;
        drop index domains_skeleton;
        alter table domains drop column skeleton;
    `);
}
