import { FAILING_DAYS, MIN_FAILURES, WARN_DAYS } from '../../domain/events/delivery-schedule.ts';
import { ago, type Db } from '../../platform/db.ts';
import type { FeedEvent } from './event-feed.ts';

/**
 * The queue of deliveries. A worker leases a host for a few seconds at a time. Only the holder of the lease sends to the host, so that it
 * can limit concurrent requests. All state is in the database: if a worker dies, nothing is lost, and deliveries that it had not recorded
 * are sent again.
 */

/** How long a lease of a host lasts without renewal. */
const HELD = "interval '5 seconds'";

/** Raw: hosts that have due deliveries and no holder. */
const FREE_HOSTS = 'from webhook_hosts where due_at <= app_now() and (holder is null or held_until < app_now())';

/** Raw: whether a host can be taken. */
export const HOST_IS_DUE = `select true ${FREE_HOSTS} order by due_at limit 1`;

/** Raw: `skip locked`. All statements that lock several hosts lock them in the order of their names. */
const TAKE_HOSTS = `
    update webhook_hosts h set holder = :holder, held_until = app_now() + ${HELD}
    from (
        select host ${FREE_HOSTS}
        order by due_at limit :limit for update skip locked
    ) free where h.host = free.host
    returning h.host`;

/** Leases hosts that have due deliveries and no holder. */
export async function takeHosts(db: Db, holder: string, limit: number): Promise<string[]> {
    const { rows } = await db.raw<{ rows: { host: string }[] }>(TAKE_HOSTS, { holder, limit });
    return rows.map(({ host }) => host);
}

const RENEW_HOSTS = `
    update webhook_hosts h set held_until = app_now() + ${HELD}
    from (select host from webhook_hosts where host = any(:hosts) and holder = :holder order by host for update) mine
    where h.host = mine.host
    returning h.host`;

/** Renews leases and returns the hosts that are still held. Another worker may have taken a host whose lease expired. */
export async function renewHosts(db: Db, holder: string, hosts: readonly string[]): Promise<string[]> {
    const { rows } = await db.raw<{ rows: { host: string }[] }>(RENEW_HOSTS, { holder, hosts: [...hosts] });
    return rows.map(({ host }) => host);
}

/** Each host becomes due with its next delivery. If that is already due, the host queues behind those that wait now. */
export async function releaseHosts(db: Db, holder: string, hosts: readonly string[]): Promise<void> {
    await db.transaction(async (trx) => {
        // Locked before its deliveries are read, so that a delivery created meanwhile sees the new row.
        const mine: string[] = await trx('webhook_hosts')
            .whereIn('host', hosts)
            .where({ holder })
            .orderBy('host')
            .forUpdate()
            .pluck('host');
        await trx('webhook_hosts')
            .whereIn('host', mine)
            .update({
                holder: null,
                held_until: null,
                due_at: trx('webhook_deliveries as d')
                    .whereRaw("d.host = webhook_hosts.host and d.status = 'pending'")
                    .whereNotIn('d.webhook_id', trx('webhooks').where({ is_stopping: true }).select('id'))
                    .select(trx.raw('case when count(*) > 0 then greatest(min(d.due_at), app_now()) end')),
            });
    });
}

/** A delivery to make, with its webhook and its event. */
export interface DueDelivery extends Omit<FeedEvent, 'type'> {
    type: string;
    deliveryId: string;
    host: string;
    /** The registrable domain of the receiver, or its address. */
    domain: string;
    webhookId: string;
    workspaceId: string;
    /** The user who pays on Free; null in a workspace with a plan. */
    freeUser: string | null;
    url: string;
    sealed: Buffer;
    /** The encrypted previous secret, while it also signs. */
    formerSealed: Buffer | null;
    /** Whether an operator or the owner of the domain blocked the receiver. */
    isBlocked: boolean;
    /** Number of failed attempts since its creation or the last redelivery. */
    attempts: number;
    /** Whether the URL of the webhook has answered 2xx before. */
    hasDelivered: boolean;
    /** Number of failed attempts of the webhook since its last success. */
    failures: number;
}

/** Maximum number of deliveries read at a time: of one webhook, and in total. */
const READ_AT_ONCE = 32;
const MAX_READ = 2000;

/** Raw: an index skip scan finds the webhooks with waiting deliveries, however many deliveries each has. */
const TAKE_DUE = `
    with recursive busy as (
        (select h.host, f.webhook_id from unnest(:hosts::text[]) h (host) cross join lateral (
            select d.webhook_id from webhook_deliveries d where d.host = h.host and d.status = 'pending' order by d.webhook_id limit 1) f)
        union all
        select b.host, n.webhook_id from busy b cross join lateral (
            select d.webhook_id from webhook_deliveries d
            where d.host = b.host and d.status = 'pending' and d.webhook_id > b.webhook_id order by d.webhook_id limit 1) n
    )
    select d.id as "deliveryId", b.host, coalesce(w.registrable, b.host) as domain, w.id as "webhookId", w.workspace_id as "workspaceId",
           case when s.plan = 'free' then w.made_by end as "freeUser", w.url, w.sealed,
           case when w.former_until > app_now() then w.former_sealed end as "formerSealed",
           exists (select from domains o where o.registrable = w.registrable and o.is_blocked) as "isBlocked",
           d.attempts, w.has_delivered as "hasDelivered", w.failures, e.id as "eventId", e.type, e.at, e.data, e.about
    from busy b
    join webhooks w on w.id = b.webhook_id and not w.is_stopping
    join workspaces s on s.id = w.workspace_id
    cross join lateral (
        select d.id, d.event_id, d.attempts - d.earlier_attempts as attempts from webhook_deliveries d
        where d.host = b.host and d.webhook_id = b.webhook_id and d.status = 'pending' and d.due_at <= app_now()
            and d.id <> all(:known::text[])
        order by d.due_at, d.id limit ${READ_AT_ONCE}) d
    join events e on e.id = d.event_id
    where b.webhook_id <> all(:full::text[])
    limit ${MAX_READ}`;

/** Reads due deliveries to these hosts, but none that is `known` or of a webhook that is `full`: the caller has enough of it. */
export async function readDue(
    db: Db,
    { hosts, known, full }: { hosts: readonly string[]; known: readonly string[]; full: readonly string[] },
): Promise<DueDelivery[]> {
    const { rows } = await db.raw<{ rows: DueDelivery[] }>(TAKE_DUE, { hosts: [...hosts], known: [...known], full: [...full] });
    return rows;
}

export interface Attempt {
    deliveryId: string;
    webhookId: string;
    isDelivered: boolean;
    /** The HTTP status of the answer. */
    code: number | null;
    /** Why the attempt failed. */
    problem: string | null;
    /** The beginning of the answer's body. */
    answer: string | null;
    durationMs: number;
    /** Milliseconds until the next attempt; null if none follows. */
    retryMs: number | null;
}

/** Webhooks that have been failing for a long time. */
interface Failing {
    /** Ids of webhooks that have failed for so long that they must be disabled. */
    toDisable: string[];
    /** Ids of webhooks whose owners must be warned. */
    toWarn: string[];
}

/** Raw: counts failures in the order in which attempts ended. Locks webhooks before deliveries, by id, like every change of both. */
const RECORD = `
    with given as materialized (
        select g.* from json_to_recordset(:attempts::json) as g (
            place integer, "deliveryId" text, "webhookId" text, "isDelivered" boolean, code smallint, problem text, answer text,
            "durationMs" integer, "retryMs" double precision)
    ), webhooks_locked as materialized (
        select w.id from webhooks w where w.id in (select "webhookId" from given) order by w.id for no key update
    ), locked as materialized (
        select d.id from webhook_deliveries d
        where d.id in (select "deliveryId" from given) and (select count(*) from webhooks_locked) >= 0
        order by d.id for no key update
    ), recorded as (
        update webhook_deliveries d
        set attempts = d.attempts + 1, code = g.code, problem = g.problem, answer = g.answer, duration_ms = g."durationMs",
            attempted_at = app_now(),
            status = case when g."isDelivered" then 'delivered' when g."retryMs" is null then 'failed' else d.status end,
            due_at = case when not g."isDelivered" and d.status = 'pending'
                          then app_now() + g."retryMs" * interval '1 millisecond' end
        from given g join locked l on l.id = g."deliveryId" where d.id = l.id and d.status in ('pending', 'stopped')
    ), tallies as (
        select g."webhookId" as id, bool_or(g."isDelivered") as "hasSuccess",
               count(*) filter (where not g."isDelivered" and g.place > coalesce(s.place, 0)) as failures
        from given g left join (select "webhookId", max(place) as place from given where "isDelivered" group by 1) s using ("webhookId")
        group by 1
    )
    update webhooks w
    set failures = t.failures + case when t."hasSuccess" then 0 else w.failures end,
        failing_since = case when t.failures = 0 then null when t."hasSuccess" then app_now() else coalesce(w.failing_since, app_now()) end,
        warned_at = case when t."hasSuccess" then null else w.warned_at end,
        has_delivered = w.has_delivered or t."hasSuccess"
    from tallies t where w.id = t.id and (t.failures > 0 or w.failures > 0 or (t."hasSuccess" and not w.has_delivered))
    returning w.id, w.is_enabled and w.warned_at is null and w.failing_since <= :warnFrom as "toWarn",
              w.is_enabled and w.failing_since <= :disableFrom and w.failures >= ${MIN_FAILURES} as "toDisable"`;

/** Records attempts and when the next ones are due. A delivery that was stopped meanwhile stays stopped, unless it was delivered. */
export async function recordAttempts(db: Db, attempts: readonly Attempt[]): Promise<Failing> {
    const { rows } = await db.raw<{ rows: { id: string; toWarn: boolean; toDisable: boolean }[] }>(RECORD, {
        attempts: JSON.stringify(attempts.map((attempt, index) => ({ place: index + 1, ...attempt }))),
        warnFrom: ago(db, `${WARN_DAYS} days`),
        disableFrom: ago(db, `${FAILING_DAYS} days`),
    });
    return {
        toDisable: rows.filter(({ toDisable }) => toDisable).map(({ id }) => id),
        toWarn: rows.filter(({ toWarn, toDisable }) => toWarn && !toDisable).map(({ id }) => id),
    };
}

interface Waiting {
    due: number;
    /** Deliveries that wait for a retry. */
    later: number;
    oldestDueSeconds: number;
}

export async function countWaiting(db: Db): Promise<Waiting> {
    const { rows } = await db.raw<{ rows: [Waiting] }>(`
        select count(*) filter (where due_at <= app_now()) as due, count(*) filter (where due_at > app_now()) as later,
               coalesce(extract(epoch from app_now() - min(due_at) filter (where due_at <= app_now())), 0)::float8 as "oldestDueSeconds"
        from webhook_deliveries where status = 'pending'`);
    return rows[0];
}
