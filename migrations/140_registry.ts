import type { Knex } from 'knex';

export { down } from './100_common_functions.ts';

/** The registry: domains with credits, blocks, policies and maintainers; sites; versions; verification; reports of callers. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table domains (
            registrable text collate "C" primary key,
            -- The form of its name that look-alike names share (shared/domain/site/look-alike.ts).
            skeleton text collate "C",
            credits integer not null default 1 check (credits >= 1),
            concurrency integer check (concurrency >= 1),
            rate double precision check (rate > 0),
            blocked_at timestamptz,
            block_reason text,
            -- The rules of its proven owner and those of the operator. The stricter one applies.
            policy jsonb,
            operator_policy jsonb,
            -- The lowest pace of each host over the latest versions of its sites, in requests a minute, so that a look-up reads one row.
            paces jsonb,
            -- Hosts that an operator allows for sign-in, and whether session cookies may be credentials.
            auth_hosts text[] not null default '{}',
            takes_cookies boolean not null default true,
            is_blocked boolean generated always as
                (blocked_at is not null or coalesce(policy @> '{"blocked": true}'::jsonb, false)) stored,
            -- Prevents two workers from verifying sites of one domain at the same time. A run ends within ten minutes.
            verification_began_at timestamptz,
            created_at timestamptz not null default app_now(),
            revision bigint not null default 1,
            check ((blocked_at is null) = (block_reason is null))
        );
        create index domains_skeleton on domains (skeleton) where skeleton is not null;
        create index domains_blocked on domains (registrable) where is_blocked;

        create table maintainers (
            registrable text collate "C" not null references domains,
            workspace_id text collate "C" not null references workspaces (id),
            added_at timestamptz not null default app_now(),
            -- Set by an operator: added as one more maintainer, or as the only one.
            granted text check (granted in ('added', 'transferred')),
            -- The time since which its proof of owning the domain is valid. Null: never proven, or the proof is gone.
            proven_at timestamptz,
            -- A removal that another workspace ordered. It takes effect at removal_at unless the owners stop it.
            removal_id text collate "C" unique check (removal_id like 'rmv\\_%'),
            removal_by text collate "C" references workspaces (id),
            removal_at timestamptz,
            removal_stopped_at timestamptz,
            primary key (registrable, workspace_id),
            constraint maintainers_removal check ((removal_id is null) = (removal_at is null) and (removal_id is null) = (removal_by is null))
        );
        create index maintainers_workspace on maintainers (workspace_id);
        create index maintainers_removals on maintainers (removal_at) where removal_at is not null;

        -- The columns from title to verified_at repeat the latest version, so that lists of cards read only one table.
        create table sites (
            site text collate "C" primary key,
            registrable text collate "C" not null references domains,
            versions integer not null default 0,
            latest_version_id bigint,
            title text not null default '',
            description text not null default '',
            intent_category text not null default '',
            parent_category text not null generated always as (split_part(intent_category, '/', 1)) stored,
            published_at timestamptz,
            verified_at timestamptz,
            -- The words that find it (shared/domain/search/search-text.ts). search_rules 0: the sweeper has not indexed it yet.
            label text collate "C" not null default '',
            search tsvector not null default '',
            search_rules smallint not null default 0,
            created_at timestamptz not null default app_now(),
            revision bigint not null default 1
        );
        create index sites_registrable on sites (registrable);
        -- Without fastupdate: each search would also read the list of pending entries.
        create index sites_search on sites using gin (search) with (fastupdate = off);
        create index sites_by_label on sites (label, site) where latest_version_id is not null;
        create index sites_by_leaf on sites (intent_category, site) where latest_version_id is not null;
        create index sites_by_parent on sites (parent_category, site) where latest_version_id is not null;
        create index sites_by_publication on sites (published_at desc, site) where latest_version_id is not null;
        create index sites_by_verification on sites (verified_at desc, site) where latest_version_id is not null and verified_at is not null;
        create index sites_verified on sites (site) where latest_version_id is not null and verified_at is not null;
        create index sites_unverified on sites (site) where latest_version_id is not null and verified_at is null;

        -- Versions change only when they are verified or yanked. document is json and not jsonb, since jsonb would reorder the keys of a
        -- package.
        create table versions (
            id bigint generated always as identity primary key,
            site text collate "C" not null references sites,
            version integer not null check (version >= 1),
            version_hash text not null,
            document json not null,
            summary json not null,
            -- The hosts that it calls (shared/domain/package/hosts.ts), so that cards do not read whole packages.
            hosts text[] not null,
            -- Requests a minute to each of its hosts, as its package asks.
            pace integer check (pace between 1 and 6000),
            change text not null check (change in ('major', 'minor', 'patch')),
            changes json not null,
            origin text not null check (origin in ('published', 'starter')),
            published_by_workspace text collate "C" not null references workspaces (id),
            -- The person. Only operators read it, by hand; everybody else reads the workspace.
            published_by_user text collate "C" references users (id),
            published_by_account text collate "C",
            published_at timestamptz not null default app_now(),
            verified_at timestamptz,
            passed_endpoints text[] not null default '{}',
            verification_failures integer not null default 0 check (verification_failures >= 0),
            drifted_at timestamptz,
            yanked_at timestamptz,
            yank_reason text check (yank_reason in ('broken', 'security', 'legal')),
            -- If true, a maintainer cannot restore it.
            yanked_by_operator boolean not null default false,
            revision bigint not null default 1,
            check ((yanked_at is null) = (yank_reason is null)),
            check (drifted_at is null or verified_at is null),
            check (yanked_at is not null or not yanked_by_operator),
            unique (site, version)
        );
        create index versions_hash on versions (site, version_hash);
        create index versions_account on versions (published_by_account, published_at) where published_by_account is not null;
        create index versions_drifted on versions (id) where drifted_at is not null;
        create index versions_of_starter on versions (site) where origin = 'starter';
        alter table sites add foreign key (latest_version_id) references versions (id);

        create trigger domains_revision before update on domains for each row execute function raise_revision();
        create trigger sites_revision before update on sites for each row execute function raise_revision();
        create trigger versions_revision before update on versions for each row execute function raise_revision();

        -- The times during which a version was the latest. A call that names no version is charged by the versions of the last 24 hours.
        create table latest_spells (
            id bigint generated always as identity primary key,
            site text collate "C" not null references sites,
            version_id bigint not null references versions (id),
            began_at timestamptz not null default app_now(),
            ended_at timestamptz
        );
        create unique index latest_spells_open on latest_spells (site) where ended_at is null;
        create index latest_spells_ended on latest_spells (site, ended_at);

        -- run counts the runs of a site; attempts counts those since the last verdict. due_at null: no run is planned.
        create table verifications (
            site text collate "C" primary key references sites,
            due_at timestamptz,
            run integer not null default 0,
            attempts integer not null default 0,
            version_id bigint references versions (id),
            began_at timestamptz,
            ended_at timestamptz,
            outcome text check (outcome in ('passed', 'failed', 'undecided', 'nothing')),
            findings json,
            check ((ended_at is null) = (outcome is null) and (ended_at is null) = (findings is null)),
            check ((run = 0) = (began_at is null) and (run = 0) = (version_id is null))
        );
        create index verifications_due on verifications (due_at) where due_at is not null;
        create index verifications_running on verifications (began_at) where ended_at is null and run > 0;

        -- Problems that callers report to the maintainers of a site. Kept for 90 days.
        create table problem_reports (
            id text collate "C" primary key check (id like 'rep\\_%'),
            site text collate "C" not null,
            version integer not null,
            endpoint text collate "C",
            kind text collate "C" not null,
            text text not null,
            -- The workspace that reported it. Only the operator sees it.
            workspace_id text collate "C" not null references workspaces (id) on delete cascade,
            created_at timestamptz not null default app_now()
        );
        create index problem_reports_of_site on problem_reports (site, created_at, id);
        create index problem_reports_by_age on problem_reports (created_at);
        create index problem_reports_of_workspace on problem_reports (workspace_id);
    `);
}
