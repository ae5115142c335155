import type { Knex } from 'knex';

export { down } from './100_common_functions.ts';

/**
 * Stored answers (docs/api.md, "Idempotency"): one row for each workspace, route and key. Without a status the first call is still running,
 * until running_until at the latest. idempotency_bytes has the sum per workspace, since summing the rows would take longer with each of
 * them.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        -- The vacuum thresholds are those of holds (200), for the same reason.
        create table idempotency (
            workspace_id text not null,
            route text not null,
            idempotency_key text not null,
            body_hash bytea not null,
            operation text not null,
            status smallint,
            -- Headers and body, encrypted by the key ring.
            sealed bytea,
            -- The credits that were left after the charge; part of the body.
            remaining bigint,
            -- Bytes of the answer and its key; 0 while the call is running.
            size integer not null default 0 check (size >= 0),
            created_at timestamptz not null default app_now(),
            running_until timestamptz not null,
            expires_at timestamptz not null,
            primary key (workspace_id, route, idempotency_key)
        ) with (autovacuum_vacuum_threshold = 2000, autovacuum_analyze_threshold = 2000);
        -- Encrypted bytes cannot be compressed.
        alter table idempotency alter column sealed set storage external;
        create index idempotency_expiry on idempotency (expires_at);
        create index idempotency_of_workspace on idempotency (workspace_id, expires_at);
        create table idempotency_bytes (
            workspace_id text primary key,
            bytes bigint not null check (bytes >= 0)
        ) with (fillfactor = 50);
    `);
    await knex.raw(FUNCTIONS);
}

/** With `limit cardinality(…)` the planner expects one row, so it looks rows up by key and never reads the whole table. */
const FUNCTIONS = `
    create function idempotency_count(p_workspace text[], p_bytes bigint[]) returns void language sql as $$
        insert into idempotency_bytes as kept (workspace_id, bytes)
            select g.workspace, sum(g.bytes) from unnest(p_workspace, p_bytes) as g (workspace, bytes)
            group by 1 having sum(g.bytes) > 0 order by 1
            on conflict (workspace_id) do update set bytes = kept.bytes + excluded.bytes;
    $$;

    -- Returns a verdict for each order: \`new\` (this operation now has the key), \`running\`, \`abandoned\` (its time is over and its
    -- outcome unknown), \`replay\`, \`conflict\` (another body) or \`full\`. The first order of a key gets it. Expired rows are deleted
    -- here too, so that nothing depends on the sweeper.
    create function idempotency_begin(
        p_workspace text[], p_route text[], p_key text[], p_hash text[], p_operation text[], p_lasts_ms integer[], p_max_bytes bigint
    ) returns table (operation text, verdict text, holder text) language plpgsql as $$
    #variable_conflict use_column
    declare
        moment timestamptz := app_now();
    begin
        with given as (
            select * from unnest(p_workspace, p_route, p_key) as g (workspace, route, key) limit cardinality(p_key)
        ), late as (
            delete from idempotency i using given g
                where i.workspace_id = g.workspace and i.route = g.route and i.idempotency_key = g.key and i.expires_at <= moment
                returning i.workspace_id, i.size
        ), freed as (select workspace_id, sum(size) as bytes from late group by 1 having sum(size) > 0)
        update idempotency_bytes b set bytes = b.bytes - f.bytes from freed f where b.workspace_id = f.workspace_id;

        insert into idempotency (workspace_id, route, idempotency_key, body_hash, operation, created_at, running_until, expires_at)
            select distinct on (g.workspace, g.route, g.key)
                   g.workspace, g.route, g.key, decode(g.hash, 'hex'), g.operation, moment,
                   moment + g.lasts_ms * interval '1 millisecond', moment + interval '24 hours'
            from (select * from unnest(p_workspace, p_route, p_key, p_hash, p_operation, p_lasts_ms) with ordinality
                      as g (workspace, route, key, hash, operation, lasts_ms, place) limit cardinality(p_key)) g
            where not exists (select from idempotency_bytes b where b.workspace_id = g.workspace and b.bytes >= p_max_bytes)
            order by g.workspace, g.route, g.key, g.place
            on conflict do nothing;

        return query
            select g.operation,
                   case when i.operation is null and b.bytes >= p_max_bytes then 'full'
                        -- The row existed a moment ago, so its call has just ended or is about to end.
                        when i.operation is null then 'running'
                        when i.status is null and i.operation = g.operation then 'new'
                        when i.status is null and i.running_until <= moment then 'abandoned'
                        when i.body_hash <> decode(g.hash, 'hex') then 'conflict'
                        when i.status is null then 'running'
                        else 'replay' end,
                   i.operation
            from (select * from unnest(p_workspace, p_route, p_key, p_hash, p_operation) as g (workspace, route, key, hash, operation)
                  limit cardinality(p_key)) g
            left join idempotency i on i.workspace_id = g.workspace and i.route = g.route and i.idempotency_key = g.key
            left join idempotency_bytes b on b.workspace_id = g.workspace;
    end $$;

    -- Stores the answer of a call, once, and only if the call still has the key. p_sealed is base64, which a driver sends unchanged.
    create function idempotency_keep(
        p_workspace text[], p_route text[], p_key text[], p_operation text[], p_status smallint[], p_sealed text[], p_remaining bigint[]
    ) returns integer language plpgsql set lock_timeout = '1s' as $$
    declare
        workspaces text[];
        sizes bigint[];
    begin
        with given as (
            select u.workspace, u.route, u.key, u.operation, u.status, decode(u.sealed, 'base64') as sealed, u.remaining
            from unnest(p_workspace, p_route, p_key, p_operation, p_status, p_sealed, p_remaining)
                 as u (workspace, route, key, operation, status, sealed, remaining) limit cardinality(p_key)
        ), stored as (
            update idempotency i
                set status = g.status, sealed = g.sealed, remaining = g.remaining, expires_at = app_now() + interval '24 hours',
                    size = octet_length(g.sealed) + octet_length(i.idempotency_key)
                from given g
                where i.workspace_id = g.workspace and i.route = g.route and i.idempotency_key = g.key
                  and i.operation = g.operation and i.status is null
                returning i.workspace_id, i.size
        )
        select array_agg(workspace_id), array_agg(size) into workspaces, sizes from stored;
        perform idempotency_count(workspaces, sizes);
        return coalesce(cardinality(workspaces), 0);
    end $$;

    -- Returns the milliseconds until enough answers of a workspace expire that it stores less than p_max_bytes; 0: it does now.
    create function idempotency_room(p_workspace text, p_max_bytes bigint) returns bigint language plpgsql as $$
    declare
        moment timestamptz := app_now();
        kept bigint;
        free_at timestamptz;
    begin
        with late as (
            delete from idempotency i where i.workspace_id = p_workspace and i.expires_at <= moment returning i.size
        )
        update idempotency_bytes b set bytes = b.bytes - (select coalesce(sum(size), 0) from late) where b.workspace_id = p_workspace
            returning b.bytes into kept;
        if coalesce(kept, 0) < p_max_bytes then
            return 0;
        end if;
        select s.expires_at into free_at
            from (select i.expires_at, sum(i.size) over (order by i.expires_at, i.route, i.idempotency_key) as freed
                  from idempotency i where i.workspace_id = p_workspace) s
            where kept - s.freed < p_max_bytes
            order by s.expires_at limit 1;
        return greatest(1, ceil(extract(epoch from free_at - moment) * 1000));
    end $$;

    create function idempotency_sweep(p_limit integer) returns integer language plpgsql as $$
    declare
        swept integer;
    begin
        with due as (
            select i.workspace_id, i.route, i.idempotency_key from idempotency i
            where i.expires_at <= app_now() order by i.expires_at limit p_limit for update skip locked
        ), late as (
            delete from idempotency i using due d
            where i.workspace_id = d.workspace_id and i.route = d.route and i.idempotency_key = d.idempotency_key
            returning i.workspace_id, i.size
        ), locked as (
            select b.workspace_id, f.bytes from idempotency_bytes b
            join (select workspace_id, sum(size) as bytes from late group by 1 having sum(size) > 0) f using (workspace_id)
            order by b.workspace_id for update of b
        ), counted as (
            update idempotency_bytes b set bytes = b.bytes - l.bytes from locked l where b.workspace_id = l.workspace_id
        )
        select count(*) into swept from late;
        return swept;
    end $$;
`;
