import type { Knex } from 'knex';

/**
 * The pace that a package asks for, in requests a minute to each of its hosts. The domain's row repeats the lowest pace of each host over
 * the latest versions of its sites, so that a look-up reads one row. A change raises the domain's revision.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        alter table versions add column pace integer check (pace between 1 and 6000);
        alter table domains add column paces jsonb;
    `);
}

/** Packages still contain their pace. */
export async function down(knex: Knex): Promise<void> {
    await knex.raw('alter table domains drop column paces; alter table versions drop column pace');
}
