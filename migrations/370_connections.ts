import type { Knex } from 'knex';

export { down } from './100_common_functions.ts';

/** Callers' credentials for sites. A data key of the workspace encrypts them, and the installation's key ring encrypts the data key. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table connection_keys (
            workspace_id text collate "C" primary key references workspaces (id) on delete cascade,
            sealed bytea not null
        );
        create table connections (
            id text collate "C" primary key check (id like 'con\\_%'),
            workspace_id text collate "C" not null references workspaces (id) on delete cascade,
            -- The user who created it. Null if a shared one has outlived its owner's membership.
            owner_id text collate "C",
            shared boolean not null,
            site text collate "C" not null,
            auth_id text not null,
            name text not null,
            -- What the owner agreed to: the entry of the package's auth, and the hosts that may receive the value.
            entry jsonb not null,
            hosts text[] not null,
            sealed bytea not null,
            -- The last four characters of the value.
            hint text not null,
            created_at timestamptz not null default app_now(),
            last_used_at timestamptz,
            -- trial: its value is being tested, and the connection is not visible yet.
            status text not null default 'active' check (status in ('trial', 'untested', 'active', 'expired', 'rejected', 'revoked')),
            -- Rises with each new value. A process with an older revision in its cache reads the row again.
            revision integer not null default 1,
            -- The number of 401 answers in a row, and when the last of these calls ended.
            refusals smallint not null default 0,
            refused_at timestamptz,
            scopes text[] not null default '{}',
            expires_at timestamptz,
            -- Until this time only one process asks the site for the next token. No transaction stays open meanwhile.
            renewing_until timestamptz,
            -- Whether verification of the site's packages may use it.
            verifies boolean not null default false,
            check (shared or owner_id is not null)
        );
        create index connections_of_workspace on connections (workspace_id, created_at, id);
        create index connections_for_calls on connections (workspace_id, site, id);
        create index connections_lent on connections (site) where verifies;
        -- Uses per hour. The first use in an hour adds a row to the workspace's audit.
        create table connection_uses (
            workspace_id text collate "C" not null references workspaces (id) on delete cascade,
            connection_id text collate "C" not null,
            key_id text collate "C" not null,
            endpoint text collate "C" not null,
            hour timestamptz not null,
            uses integer not null,
            primary key (connection_id, key_id, endpoint, hour)
        );
        create index connection_uses_by_hour on connection_uses (hour);
        -- Versions with at least one successful call through a connection.
        create table connected_versions (
            version_id bigint primary key references versions (id) on delete cascade
        );
    `);
}
