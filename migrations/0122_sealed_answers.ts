import type { Knex } from 'knex';

/**
 * Remembered answers are encrypted by the key ring: `sealed` holds headers and body, and `remaining` the figure
 * that the charge writes into the body. Rows of the release before stay in clear until they run out, within 24 hours, and are still
 * read. Its processes may run beside newer ones: `idempotency_begin` tells them that a sealed answer is still running, so that they
 * neither repeat the call nor answer without a body.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        alter table idempotency add column sealed bytea, add column remaining bigint;
        -- What is encrypted cannot be compressed.
        alter table idempotency alter column sealed set storage external;
        comment on column idempotency.body is 'in clear, of releases before the key ring';
        comment on column idempotency.remaining is 'what the account could spend after the charge; stands in the body';
        alter function idempotency_begin(text[], text[], text[], text[], text[], integer[], bigint) rename to idempotency_take;
    `);
    for (const sql of [BEGIN, KEEP]) await knex.raw(sql);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        drop function idempotency_keep(text[], text[], text[], text[], smallint[], text[], bigint[]);
        drop function idempotency_begin(text[], text[], text[], text[], text[], integer[], bigint);
        alter function idempotency_take(text[], text[], text[], text[], text[], integer[], bigint) rename to idempotency_begin;
        alter table idempotency drop column sealed, drop column remaining;
    `);
}

/** Pinned, since the functions keep plans from the time when the tables were empty. */
const PLANNER =
    'set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan set jit = off';

const BEGIN = `
    create function idempotency_begin(
        p_workspace text[], p_route text[], p_key text[], p_hash text[], p_operation text[], p_lasts_ms integer[], p_max_bytes bigint
    ) returns table (operation text, verdict text, holder text) language plpgsql ${PLANNER} as $$
    begin
        return query
            select t.operation,
                   case when t.verdict = 'replay' and exists (select from idempotency i where i.workspace_id = g.workspace
                            and i.route = g.route and i.idempotency_key = g.key and i.sealed is not null) then 'running'
                        else t.verdict end,
                   t.holder
            from idempotency_take(p_workspace, p_route, p_key, p_hash, p_operation, p_lasts_ms, p_max_bytes) t
            join unnest(p_workspace, p_route, p_key, p_operation) as g (workspace, route, key, operation) on g.operation = t.operation;
    end $$;
`;

/** Only the call that has the key may keep an answer under it, and only once. p_sealed is base64, which a driver sends as it is. As 0096. */
const KEEP = `
    create function idempotency_keep(
        p_workspace text[], p_route text[], p_key text[], p_operation text[], p_status smallint[], p_sealed text[], p_remaining bigint[]
    ) returns integer language plpgsql ${PLANNER} set lock_timeout = '1s' as $$
    declare
        workspaces text[];
        sizes bigint[];
    begin
        with stored as (
            update idempotency i
                set status = g.status, sealed = g.sealed, remaining = g.remaining, expires_at = app_now() + interval '24 hours',
                    size = octet_length(g.sealed) + octet_length(i.idempotency_key)
                from (select u.workspace, u.route, u.key, u.operation, u.status, decode(u.sealed, 'base64') as sealed, u.remaining
                      from unnest(p_workspace, p_route, p_key, p_operation, p_status, p_sealed, p_remaining)
                           as u (workspace, route, key, operation, status, sealed, remaining) offset 0) g
                where i.workspace_id = g.workspace and i.route = g.route and i.idempotency_key = g.key
                  and i.operation = g.operation and i.status is null
                returning i.workspace_id, i.size
        )
        select array_agg(workspace_id), array_agg(size) into workspaces, sizes from stored;
        perform idempotency_count(workspaces, sizes);
        return coalesce(cardinality(workspaces), 0);
    end $$;
`;
