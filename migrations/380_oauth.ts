import type { Knex } from 'knex';

export { down } from './100_common_functions.ts';

/** OAuth: clients of workspaces, running consents, and grants to be revoked. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table oauth_clients (
            workspace_id text collate "C" not null references workspaces (id) on delete cascade,
            site text collate "C" not null,
            client_id text not null,
            -- The secret, encrypted by the data key of the workspace; null: a public client.
            sealed bytea,
            -- Where the secret may be sent: origins of token_url and revocation_url; null: those of the first consent. Another version of
            -- the package cannot send it elsewhere.
            origins text[],
            updated_at timestamptz not null default app_now(),
            primary key (workspace_id, site)
        );
        create table oauth_flows (
            -- SHA-256 of the state, which only the browser and the site know.
            state_hash bytea primary key,
            workspace_id text collate "C" not null references workspaces (id) on delete cascade,
            user_id text collate "C" not null,
            -- The id of the connection that the consent leads to.
            connection_id text collate "C" not null,
            site text collate "C" not null,
            entry jsonb not null,
            hosts text[] not null,
            scopes text[] not null,
            client_id text not null,
            redirect_url text,
            -- The verifier, encrypted. After the consent also the URL to which the site sent the browser.
            sealed bytea not null,
            status text not null default 'open' check (status in ('open', 'due', 'running', 'done', 'failed')),
            problem text,
            created_at timestamptz not null default app_now(),
            expires_at timestamptz not null
        );
        create index oauth_flows_of_user on oauth_flows (workspace_id, user_id);
        create index oauth_flows_due on oauth_flows (created_at) where status = 'due';
        create table oauth_revocations (
            connection_id text collate "C" primary key,
            workspace_id text collate "C" not null references workspaces (id) on delete cascade,
            site text collate "C" not null,
            entry jsonb not null,
            sealed bytea not null,
            created_at timestamptz not null default app_now()
        );
        create table redirect_urls (
            workspace_id text collate "C" not null references workspaces (id) on delete cascade,
            url text collate "C" not null,
            primary key (workspace_id, url)
        );
    `);
}
