import type { Db } from '../../platform/db.ts';
import { CONCERNED_DAYS } from './event-feed.ts';

/** Events of one turn. */
const MOST_EVENTS = 500;

/** What a turn of spreading did. */
export interface Spread {
    events: number;
    deliveries: number;
}

const LOCK = "hashtextextended('place events', 0)";

/**
 * No event is spread until this transaction ends: whether a webhook is told must not change meanwhile. Keep the transaction short, since
 * all events wait.
 */
export async function holdSpreading(trx: Db): Promise<void> {
    await trx.raw(`select pg_advisory_xact_lock(${LOCK})`);
}

const IS_WANTED = '(e.type = any(w.events) or e.prefix = any(w.events))';

/**
 * Raw: whom events concern, by each of their audiences, and everything that follows, in one statement. On Free the credits of an account are
 * those of a user: they are told by the webhooks that this user made. A test event has its delivery already.
 */
const SPREAD = `
    with taken as materialized (
        select e.id, e.type, split_part(e.type, '.', 1) || '.*' as prefix, e.workspace_id, e.account_id, e.site, e.at
        from events e where e.position is null order by e.at, e.id limit ${MOST_EVENTS}
    ), enabled as not materialized (
        select w.id, w.workspace_id, w.made_by, w.events, w.host from webhooks w join users u on u.id = w.made_by
        where w.is_enabled and u.suspended_at is null
    ), told as materialized (
        select e.id as event_id, w.id as webhook_id, w.host from taken e join enabled w on w.workspace_id = e.workspace_id
            where e.workspace_id is not null and ${IS_WANTED}
        union all
        select e.id, w.id, w.host from taken e join enabled w on w.workspace_id = e.account_id where e.account_id is not null and ${IS_WANTED}
        union all
        select e.id, w.id, w.host from taken e join enabled w on w.made_by = e.account_id
            join workspaces s on s.id = w.workspace_id and s.plan = 'free'
            where e.account_id is not null and ${IS_WANTED}
                and exists (select from memberships m where m.workspace_id = w.workspace_id and m.user_id = w.made_by)
        union all
        select e.id, w.id, w.host from taken e cross join lateral (
                select c.workspace_id from site_callers c
                    where c.site = e.site and c.day > (app_now() - interval '${CONCERNED_DAYS} days')::date
                union
                select m.workspace_id from sites s join maintainers m on m.registrable = s.registrable where s.site = e.site
            ) concerned join enabled w on w.workspace_id = concerned.workspace_id
            where e.site is not null and ${IS_WANTED}
    ), placed as (
        update events e set position = o.position, has_deliveries = o.is_told
        from (
            select t.id, nextval('event_positions') as position, exists (select from told where told.event_id = t.id) as is_told
            from (select id from taken order by at, id) t
        ) o where e.id = o.id
    ), made as (
        insert into webhook_deliveries (id, webhook_id, event_id, host, due_at)
        select 'dlv_' || replace(gen_random_uuid()::text, '-', ''), webhook_id, event_id, host, app_now() from told
    ), woken as (
        insert into webhook_hosts (host, due_at) select distinct host, app_now() from told order by 1
        on conflict (host) do update set due_at = least(webhook_hosts.due_at, excluded.due_at)
            where webhook_hosts.due_at is null or webhook_hosts.due_at > excluded.due_at
    )
    select (select count(*) from taken)::integer as events, (select count(*) from told)::integer as deliveries`;

/**
 * Gives the oldest events that have no position theirs, and makes their deliveries. One process at a time does, so that positions are
 * committed in their order: a reader of one has missed none before it. Undefined where another process is at it.
 */
export async function spreadEvents(db: Db): Promise<Spread | undefined> {
    const waiting = await db('events').whereNull('position').first('id');
    if (waiting === undefined) return { events: 0, deliveries: 0 };
    return db.transaction(async (trx) => {
        const { rows: locks } = await trx.raw<{ rows: [{ got: boolean }] }>(`select pg_try_advisory_xact_lock(${LOCK}) as got`);
        if (!locks[0].got) return undefined;
        const { rows } = await trx.raw<{ rows: [Spread] }>(SPREAD);
        return rows[0];
    });
}
