import type { Knex } from 'knex';

/** Problems that callers report to the maintainers of a site. Kept for 90 days. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
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

export async function down(knex: Knex): Promise<void> {
    await knex.raw('drop table problem_reports');
}
