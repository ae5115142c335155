import type { Knex } from 'knex';

export { down } from './100_common.ts';

/** Requests for schemas. A status only moves forward. The operator sees the requester, but of a stranger no address is stored. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table schema_requests (
            id text collate "C" primary key,
            domain text collate "C" not null,
            registrable text collate "C" not null,
            task text not null,
            read_or_write text check (read_or_write in ('read', 'write', 'read_write')),
            auth_shape text check (auth_shape in ('public', 'anonymous', 'login', 'oauth', 'owner_approved')),
            output_shape text,
            failure_mode text,
            intent_category text,
            source_url text,
            frequency text check (frequency in ('once', 'daily', 'hourly', 'continuous')),
            requester_contact text,
            workspace_id text collate "C" references workspaces (id),
            status text not null default 'open' check (status in ('open', 'in_progress', 'fulfilled', 'declined')),
            fulfilled_version_id bigint references versions (id),
            created_at timestamptz not null default app_now(),
            updated_at timestamptz not null default app_now(),
            check (fulfilled_version_id is null or status = 'fulfilled')
        );
        create index schema_requests_open on schema_requests (domain) where status = 'open';
        create index schema_requests_waiting on schema_requests (domain) where status in ('open', 'in_progress');
        create index schema_requests_workspace on schema_requests (workspace_id, created_at desc) where workspace_id is not null;

        create table schema_request_history (
            id bigint generated always as identity primary key,
            request_id text collate "C" not null references schema_requests,
            status text not null,
            at timestamptz not null default app_now()
        );
        create index schema_request_history_request on schema_request_history (request_id, id);
    `);
}
