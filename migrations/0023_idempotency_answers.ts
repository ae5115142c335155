import type { Knex } from 'knex';

/**
 * How a key is taken and its answer kept. Answers are text, so that a charge can be written into one in the statement that
 * charges; what a workspace keeps is summed in `idempotency_bytes`, since summing its rows would cost more with each of them.
 *
 * Everybody takes locks in one order: holds, users, credit_accounts, idempotency, idempotency_bytes (by workspace).
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        alter table idempotency alter column body type text using convert_from(body, 'UTF8');
        drop index idempotency_size;
        create index idempotency_of_workspace on idempotency (workspace_id, expires_at);
        create table idempotency_bytes (
            workspace_id text primary key,
            bytes bigint not null check (bytes >= 0)
        ) with (fillfactor = 50);
        comment on column idempotency.size is 'bytes of the kept answer and its key; 0 while it runs';
        comment on table idempotency_bytes is 'for every workspace the sum of size over its rows of idempotency';
    `);
    for (const sql of [COUNT, STORE, BEGIN, ROOM, SWEEP]) await knex.raw(sql);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        drop function idempotency_sweep(integer);
        drop function idempotency_room(text, bigint);
        drop function idempotency_begin(text[], text[], text[], text[], text[], integer[], bigint);
        drop function idempotency_store(text[], text[], text[], text[], smallint[], text[], text[]);
        drop function idempotency_count(text[], bigint[]);
        drop table idempotency_bytes;
        drop index idempotency_of_workspace;
        create index idempotency_size on idempotency (workspace_id) include (size);
        alter table idempotency alter column body type bytea using convert_to(body, 'UTF8');
    `);
}

/** Pinned, since the functions keep plans from the time when the tables were empty. */
const PLANNER =
    'set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan set jit = off';

const COUNT = `
    create function idempotency_count(p_workspace text[], p_bytes bigint[]) returns void language sql as $$
        insert into idempotency_bytes as kept (workspace_id, bytes)
            select g.workspace, sum(g.bytes) from unnest(p_workspace, p_bytes) as g (workspace, bytes)
            group by 1 having sum(g.bytes) > 0 order by 1
            on conflict (workspace_id) do update set bytes = kept.bytes + excluded.bytes;
    $$;
`;

/** Only the call that has the key may keep an answer under it, and only once. */
const STORE = `
    create function idempotency_store(
        p_workspace text[], p_route text[], p_key text[], p_operation text[], p_status smallint[], p_headers text[], p_body text[]
    ) returns integer language plpgsql ${PLANNER} as $$
    declare
        workspaces text[];
        sizes bigint[];
    begin
        with stored as (
            update idempotency i
                set status = g.status, headers = g.headers::json, body = g.body, expires_at = app_now() + interval '24 hours',
                    size = octet_length(g.body) + octet_length(g.headers) + octet_length(i.idempotency_key)
                from unnest(p_workspace, p_route, p_key, p_operation, p_status, p_headers, p_body)
                     as g (workspace, route, key, operation, status, headers, body)
                where i.workspace_id = g.workspace and i.route = g.route and i.idempotency_key = g.key
                  and i.operation = g.operation and i.status is null
                returning i.workspace_id, i.size
        )
        select array_agg(workspace_id), array_agg(size) into workspaces, sizes from stored;
        perform idempotency_count(workspaces, sizes);
        return coalesce(cardinality(workspaces), 0);
    end $$;
`;

/**
 * One verdict for each order: \`new\` (the key is this operation's now), \`running\`, \`abandoned\` (its time is up and nobody
 * said how it ended), \`replay\`, \`conflict\` (another body) or \`full\`. Orders of one key may stand in one batch: the first
 * of them takes it. What ran out is deleted here too, so that nothing depends on when the sweep comes by.
 */
const BEGIN = `
    create function idempotency_begin(
        p_workspace text[], p_route text[], p_key text[], p_hash text[], p_operation text[], p_lasts_ms integer[], p_max_bytes bigint
    ) returns table (operation text, verdict text, holder text) language plpgsql ${PLANNER} as $$
    #variable_conflict use_column
    declare
        moment timestamptz := app_now();
    begin
        with late as (
            delete from idempotency i
                using unnest(p_workspace, p_route, p_key) as g (workspace, route, key)
                where i.workspace_id = g.workspace and i.route = g.route and i.idempotency_key = g.key and i.expires_at <= moment
                returning i.workspace_id, i.size
        ), freed as (select workspace_id, sum(size) as bytes from late group by 1 having sum(size) > 0)
        update idempotency_bytes b set bytes = b.bytes - f.bytes from freed f where b.workspace_id = f.workspace_id;

        insert into idempotency (workspace_id, route, idempotency_key, body_hash, operation, created_at, running_until, expires_at)
            select distinct on (g.workspace, g.route, g.key)
                   g.workspace, g.route, g.key, decode(g.hash, 'hex'), g.operation, moment,
                   moment + g.lasts_ms * interval '1 millisecond', moment + interval '24 hours'
            from unnest(p_workspace, p_route, p_key, p_hash, p_operation, p_lasts_ms) with ordinality
                 as g (workspace, route, key, hash, operation, lasts_ms, place)
            where not exists (select from idempotency_bytes b where b.workspace_id = g.workspace and b.bytes >= p_max_bytes)
            order by g.workspace, g.route, g.key, g.place
            on conflict do nothing;

        return query
            select g.operation,
                   case when i.operation is null and b.bytes >= p_max_bytes then 'full'
                        -- It was there a moment ago: its call has just ended, or is about to.
                        when i.operation is null then 'running'
                        when i.status is null and i.operation = g.operation then 'new'
                        when i.status is null and i.running_until <= moment then 'abandoned'
                        when i.body_hash <> decode(g.hash, 'hex') then 'conflict'
                        when i.status is null then 'running'
                        else 'replay' end,
                   i.operation
            from unnest(p_workspace, p_route, p_key, p_hash, p_operation) as g (workspace, route, key, hash, operation)
            left join idempotency i on i.workspace_id = g.workspace and i.route = g.route and i.idempotency_key = g.key
            left join idempotency_bytes b on b.workspace_id = g.workspace;
    end $$;
`;

/** Milliseconds until a workspace keeps less than p_max_bytes, by what runs out first; 0: it does now. */
const ROOM = `
    create function idempotency_room(p_workspace text, p_max_bytes bigint) returns bigint language plpgsql ${PLANNER} as $$
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
`;

const SWEEP = `
    create function idempotency_sweep(p_limit integer) returns integer language plpgsql ${PLANNER} as $$
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
