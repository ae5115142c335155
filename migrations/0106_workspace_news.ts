import type { Knex } from 'knex';

/** What the owners of a workspace are mailed about what it maintains. Rows of one topic go out in one mail, at most one an hour. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table workspace_news (
            id bigint generated always as identity primary key,
            workspace_id text collate "C" not null references workspaces (id),
            topic text collate "C",
            subject text not null,
            line text not null,
            removal_id text collate "C",
            at timestamptz not null default app_now(),
            mailed_at timestamptz
        );
        create index workspace_news_waiting on workspace_news (workspace_id, topic, id) where mailed_at is null;
        create index workspace_news_mailed on workspace_news (workspace_id, topic, mailed_at) where mailed_at is not null;
        comment on column workspace_news.topic is 'null: a mail of its own, at once';
        comment on column workspace_news.removal_id is 'the mail ends with the link that stops this removal of a maintainer';
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('drop table workspace_news;');
}
