import type { Knex } from 'knex';

export { down } from './100_common.ts';

/** Outside of a transaction, so that requests are made and fulfilled meanwhile. Each step may run again. */
export const config = { transaction: false };

/** The demand for each domain is counted when its requests change, since everyone may read which domains are wanted most. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw('drop index concurrently if exists schema_requests_open_of');
    await knex.raw("create index concurrently schema_requests_open_of on schema_requests (domain, workspace_id) where status = 'open'");
    await knex.transaction(async (trx) => {
        await trx.raw(TABLE);
        await trx.raw(COUNT);
        await trx.raw(`
            create or replace trigger schema_requests_made after insert on schema_requests
                referencing new table as changed for each statement execute function count_requested();
            create or replace trigger schema_requests_moved after update on schema_requests
                referencing new table as changed for each statement execute function count_requested();
        `);
    });
    // Any change makes the trigger count. The statistics of an empty table make its first plans wrong.
    if ((await knex('schema_requests').first('id')) === undefined) return;
    await knex.raw(`
        update schema_requests set status = status
            where id in (select min(id) from schema_requests where status = 'open' group by domain);
        analyze schema_requests, requested_domains;
    `);
}

const TABLE = `
    create table if not exists requested_domains (
        domain text collate "C" primary key,
        registrable text collate "C" not null,
        -- People with open requests: workspaces count by one of their owners, and all callers without a key as one. Counted again with the
        -- next request of the domain, if owners have changed.
        people integer not null default 0,
        -- Open requests.
        requests integer not null default 0
    ) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
    create index if not exists requested_domains_most on requested_domains (people desc, requests desc, domain);
`;

const COUNT = `
    create or replace function count_requested() returns trigger language plpgsql as $$
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
`;
