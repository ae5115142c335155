import type { Knex } from 'knex';

/** Whether a connection may be used, and how sites answered it. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        alter table connections
            -- trial: its value is being tested, and the connection is not visible yet.
            add column status text not null default 'active'
                check (status in ('trial', 'untested', 'active', 'expired', 'rejected', 'revoked')),
            -- Rises with each new value. A process with an older revision in its cache reads the row again.
            add column revision integer not null default 1,
            -- The number of 401 answers in a row, and when the last of these calls ended.
            add column refusals smallint not null default 0,
            add column refused_at timestamptz,
            add column scopes text[] not null default '{}',
            add column expires_at timestamptz;
        -- Versions with at least one successful call through a connection.
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
