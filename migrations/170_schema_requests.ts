import type { Knex } from 'knex';

export { down } from './100_common_functions.ts';

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
        create index schema_requests_open_of on schema_requests (domain, workspace_id) where status = 'open';
        create index schema_requests_waiting on schema_requests (domain) where status in ('open', 'in_progress');
        create index schema_requests_workspace on schema_requests (workspace_id, created_at desc) where workspace_id is not null;

        create table schema_request_history (
            id bigint generated always as identity primary key,
            request_id text collate "C" not null references schema_requests,
            status text not null,
            at timestamptz not null default app_now()
        );
        create index schema_request_history_request on schema_request_history (request_id, id);

        -- The demand for each domain. It is counted when its requests change, since everyone may read which domains are wanted most.
        create table requested_domains (
            domain text collate "C" primary key,
            registrable text collate "C" not null,
            -- People with open requests: workspaces count by one of their owners, and all callers without a key as one. Counted again with
            -- the next request of the domain, if owners have changed.
            people integer not null default 0,
            -- Open requests.
            requests integer not null default 0
        ) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
        create index requested_domains_most on requested_domains (people desc, requests desc, domain);
    `);
    await knex.raw(COUNT);
}

const COUNT = `
    create function count_requested() returns trigger language plpgsql as $$
    declare
        domains text[] := array(select distinct domain from changed);
    begin
        -- Locks the domains in one order. Each statement after this one sees what the last holder of a lock committed.
        insert into requested_domains as d (domain, registrable)
            select distinct domain, registrable from changed order by domain
            on conflict (domain) do update set requests = d.requests;
        update requested_domains d set (people, requests) = (
            select count(distinct coalesce(owner, '')), coalesce(sum(made), 0) from (
                select (select min(m.user_id) from memberships m where m.workspace_id = r.workspace_id and m.role = 'owner') as owner,
                       count(*) as made
                from schema_requests r where r.domain = d.domain and r.status = 'open' group by r.workspace_id
            ) by_workspace
        ) where d.domain = any(domains);
        delete from requested_domains where requests = 0 and domain = any(domains);
        return null;
    end $$;
    create trigger schema_requests_made after insert on schema_requests
        referencing new table as changed for each statement execute function count_requested();
    create trigger schema_requests_moved after update on schema_requests
        referencing new table as changed for each statement execute function count_requested();
`;
