import type { Knex } from 'knex';

/**
 * The parent of a site's category as a column, since of an expression the planner does not know how often it is what; and the category
 * of a ranked site beside its rank, so that the best of a category are found without looking at all the others.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        drop index sites_by_parent;
        alter table sites add parent_category text not null generated always as (split_part(intent_category, '/', 1)) stored;
        create index sites_by_parent on sites (parent_category, site) where latest_version_id is not null;

        alter table trending_sites add intent_category text not null default '';
        create index trending_sites_category on trending_sites (rollup_id, intent_category, rank) where period = '7d';
        update trending_sites t set intent_category = s.intent_category from sites s where s.site = t.site;
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        drop index trending_sites_category;
        alter table trending_sites drop column intent_category;
        drop index sites_by_parent;
        alter table sites drop column parent_category;
        create index sites_by_parent on sites (split_part(intent_category, '/', 1), site) where latest_version_id is not null;
    `);
}
