import type { Knex } from 'knex';

/** News say which domain they are about: its owners get at most one mail an hour about a domain, whatever else shares the mail. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        alter table workspace_news add domain text collate "C";
        comment on column workspace_news.domain is 'null in rows of earlier releases';
        comment on column workspace_news.topic is 'what shares a mail beside the domain: the domain itself, or added';
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('alter table workspace_news drop domain;');
}
