import type { Knex } from 'knex';

/** Whether a connection may be used, and what sites said of it. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        alter table connections
            -- trial: its value is being tested, and nobody sees it yet.
            add column status text not null default 'active'
                check (status in ('trial', 'untested', 'active', 'expired', 'rejected', 'revoked')),
            -- Counts values: a process that remembers an older one reads the row again.
            add column revision integer not null default 1,
            -- Answers with 401 in a row, and when the last of these calls ended.
            add column refusals smallint not null default 0,
            add column refused_at timestamptz,
            add column scopes text[] not null default '{}',
            add column expires_at timestamptz;
        -- Versions of which a call with a connection once succeeded.
        create table connected_versions (
            version_id bigint primary key references versions (id) on delete cascade
        );
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        drop table connected_versions;
        alter table connections drop column status, drop column revision, drop column refusals, drop column refused_at,
            drop column scopes, drop column expires_at;
    `);
}
