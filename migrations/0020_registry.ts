import type { Knex } from 'knex';

/**
 * The registry: registrable domains (what a site's owner owns, and what credits, blocks and maintainers belong to), the
 * sites on them, and their versions, which never change apart from being verified or yanked.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table domains (
            registrable text collate "C" primary key,
            credits integer not null default 1 check (credits >= 1),
            concurrency integer check (concurrency >= 1),
            rate double precision check (rate > 0),
            blocked_at timestamptz,
            block_reason text,
            created_at timestamptz not null default app_now(),
            check ((blocked_at is null) = (block_reason is null))
        );

        create table maintainers (
            registrable text collate "C" not null references domains,
            workspace_id text collate "C" not null references workspaces (id),
            added_at timestamptz not null default app_now(),
            primary key (registrable, workspace_id)
        );
        create index maintainers_workspace on maintainers (workspace_id);

        -- Title to verified_at repeat the latest version, so that lists of cards read one table.
        create table sites (
            site text collate "C" primary key,
            registrable text collate "C" not null references domains,
            versions integer not null default 0,
            latest_version_id bigint,
            title text not null default '',
            description text not null default '',
            intent_category text not null default '',
            published_at timestamptz,
            verified_at timestamptz,
            created_at timestamptz not null default app_now()
        );
        create index sites_registrable on sites (registrable);

        -- document is json, not jsonb: a package comes back with its keys in the order in which it was published.
        create table versions (
            id bigint generated always as identity primary key,
            site text collate "C" not null references sites,
            version integer not null check (version >= 1),
            version_hash text not null,
            document json not null,
            summary json not null,
            change text not null check (change in ('major', 'minor', 'patch')),
            changes json not null,
            origin text not null check (origin in ('published', 'starter')),
            published_by_workspace text collate "C" references workspaces (id),
            published_by_user text collate "C" references users (id),
            published_by_account text collate "C",
            published_at timestamptz not null default app_now(),
            verified_at timestamptz,
            yanked_at timestamptz,
            yank_reason text check (yank_reason in ('broken', 'security', 'legal')),
            check ((yanked_at is null) = (yank_reason is null)),
            check ((origin = 'starter') = (published_by_workspace is null)),
            unique (site, version)
        );
        create index versions_hash on versions (site, version_hash);
        create index versions_account on versions (published_by_account, published_at) where published_by_account is not null;
        alter table sites add foreign key (latest_version_id) references versions (id);

        -- When which version was the latest: a call that names none is charged by the versions of the last 24 hours.
        create table latest_spells (
            id bigint generated always as identity primary key,
            site text collate "C" not null references sites,
            version_id bigint not null references versions (id),
            began_at timestamptz not null default app_now(),
            ended_at timestamptz
        );
        create unique index latest_spells_open on latest_spells (site) where ended_at is null;
        create index latest_spells_ended on latest_spells (site, ended_at);
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        drop table latest_spells;
        alter table sites drop column latest_version_id;
        drop table versions;
        drop table sites;
        drop table maintainers;
        drop table domains;
    `);
}
