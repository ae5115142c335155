import type { Db } from '../../platform/db.ts';
import { SITE_EVENT_DAYS } from './event-feed.ts';

/** Maximum number of events of workspaces and accounts per call of `spreadEvents`. */
const MAX_EVENTS = 500;
/** The same for events of sites. Each may have thousands of deliveries, and other events must not wait for many of them. */
const MAX_SITE_EVENTS = 4;

interface Spread {
    events: number;
    deliveries: number;
}

const LOCK = "hashtextextended('place events', 0)";

/** Blocks spreading, and so changes of what it reads, until this transaction ends. All events wait: keep it short. */
export async function blockSpreading(trx: Db): Promise<void> {
    await trx.raw(`select pg_advisory_xact_lock(${LOCK})`);
}

/** Raw: the webhook subscribed to the event, and was enabled when it happened. */
const IS_WANTED = '(e.type = any(w.events) or e.prefix = any(w.events)) and e.at >= w.enabled_at';

/**
 * Raw: one statement finds the webhooks of each audience and creates the deliveries. The workspaces that a site concerns are found first
 * ("materialized"): the planner once read the callers of the site again for each webhook of all workspaces. A webhook receives events while
 * the person who last chose its URL or enabled it may have keys in its workspace. On Free an account's credits belong to a user, so only
 * webhooks of that person receive events about them. A test event already has its delivery.
 */
const SPREAD = `
    with taken as materialized (
        select e.id, e.type, split_part(e.type, '.', 1) || '.*' as prefix, e.workspace_id, e.account_id, e.site, e.at from (
            (select * from events where position is null and site is null order by at, id limit ${MAX_EVENTS})
            union all
            (select * from events where position is null and site is not null order by at, id limit ${MAX_SITE_EVENTS})
        ) e
    ), enabled as not materialized (
        select w.id, w.workspace_id, w.made_by, w.events, w.host, w.enabled_at from webhooks w
            join users u on u.id = w.made_by and u.suspended_at is null
            join memberships m on m.workspace_id = w.workspace_id and m.user_id = w.made_by and m.role <> 'billing'
        where w.is_enabled
    ), concerned as materialized (
        select e.id, e.type, e.prefix, e.at, of_site.workspace_id from taken e cross join lateral (
            select c.workspace_id from site_callers c
                where c.site = e.site and c.day > (app_now() - interval '${SITE_EVENT_DAYS} days')::date
            union
            select m.workspace_id from sites s join maintainers m on m.registrable = s.registrable where s.site = e.site
        ) of_site where e.site is not null
    ), wanted as materialized (
        select e.id as event_id, w.id as webhook_id, w.host from taken e join enabled w on w.workspace_id = e.workspace_id
            where e.workspace_id is not null and ${IS_WANTED}
        union all
        select e.id, w.id, w.host from taken e join enabled w on w.workspace_id = e.account_id where e.account_id is not null and ${IS_WANTED}
        union all
        select e.id, w.id, w.host from taken e join enabled w on w.made_by = e.account_id
            join workspaces s on s.id = w.workspace_id and s.plan = 'free'
            where e.account_id is not null and ${IS_WANTED}
        union all
        select e.id, w.id, w.host from concerned e join enabled w on w.workspace_id = e.workspace_id where ${IS_WANTED}
    ), placed as (
        update events e set position = o.position
        from (select t.id, nextval('event_positions') as position from (select id from taken order by at, id) t) o where e.id = o.id
    ), made as (
        insert into webhook_deliveries (id, webhook_id, event_id, host, due_at)
        -- An id begins with its time, as newTimedId explains.
        select 'dlv_' || to_hex(cast(extract(epoch from app_now()) * 1000 as bigint)) || substr(replace(gen_random_uuid()::text, '-', ''), 13),
               webhook_id, event_id, host, app_now() from wanted
    ), woken as (
        insert into webhook_hosts (host, due_at) select distinct host, app_now() from wanted order by 1
        on conflict (host) do update set due_at = least(webhook_hosts.due_at, excluded.due_at)
            where webhook_hosts.due_at is null or webhook_hosts.due_at > excluded.due_at
    )
    select (select count(*) from taken)::integer as events, (select count(*) from wanted)::integer as deliveries`;

/** Raw: whether an event has no position yet. */
export const EVENT_WAITS = `select true from (
        (select at from events where position is null and site is null order by at limit 1)
        union all
        (select at from events where position is null and site is not null order by at limit 1)
    ) waiting limit 1`;

/** Gives the oldest events positions and deliveries. Undefined if another process does: one at a time, so that readers miss no event. */
export async function spreadEvents(db: Db): Promise<Spread | undefined> {
    const { rows: waiting } = await db.raw<{ rows: unknown[] }>(EVENT_WAITS);
    if (waiting.length === 0) return { events: 0, deliveries: 0 };
    return db.transaction(async (trx) => {
        const { rows: locks } = await trx.raw<{ rows: [{ got: boolean }] }>(`select pg_try_advisory_xact_lock(${LOCK}) as got`);
        if (!locks[0].got) return undefined;
        const { rows } = await trx.raw<{ rows: [Spread] }>(SPREAD);
        return rows[0];
    });
}
