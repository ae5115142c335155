/**
 * Statements that add, take and finish many jobs at once, on the tables of BullMQ's PostgreSQL backend. BullMQ's functions handle one job
 * each and record five events that nothing reads. Rare operations (stalled jobs, removal, counts) still use BullMQ's functions.
 */

/** The time of the server in ms. Locks run by it, so that all workers agree which of them have expired. */
const NOW = '(extract(epoch from clock_timestamp()) * 1000)::bigint';

/** $1 queue, $2 ids, $3 data as JSON, $4 priorities, $5 options as JSON, $6 current time in ms. Skips ids that are already in the queue. */
export const ADD = {
    name: 'queue-add',
    text: `with added as (
               insert into job (queue, id, seq, name, state, data, opts, priority, max_attempts, added_at_ms)
               select $1, n.id, nextval('job_seq'), 'fetch', 'waiting', n.data::jsonb, $5::jsonb, n.priority, 1, $6::bigint
               from unnest($2::text[], $3::text[], $4::integer[]) as n (id, data, priority)
               on conflict (queue, id) do nothing returning id)
           select pg_notify('bullmq_jobs', $1) where exists (select from added)`,
};

/**
 * Stores the replies of finished jobs and notifies the waiting processes, removes those of the jobs that the token locks, then locks up to
 * $3 waiting jobs. One statement, so that rows and notifications become visible together. Each process receives one notification.
 *
 * $1 queue, $2 token, $3 number of jobs wanted, $4 duration of the locks in ms, then the ids, reply channels ('' for no reply) and replies of
 * the finished jobs.
 */
export const TURN = {
    name: 'queue-turn',
    text: `with stored as (
               insert into queue_replies (channel, job, body)
               select r.channel, r.id, r.body from unnest($5::text[], $6::text[], $7::text[]) as r (id, channel, body) where r.channel <> ''
               returning channel
           ), woken as materialized (
               select pg_notify(s.channel, null) from (select distinct channel from stored) s
           ), removed as (
               delete from job where queue = $1 and id = any($5) and lock_token = $2
           ), next as materialized (
               select id from job
               where queue = $1 and state = 'waiting' and not exists (select from meta where queue = $1 and field = 'paused' and value = '1')
               order by priority, seq limit $3 for update skip locked
           ), taken as (
               update job j
               set state = 'active', lock_token = $2, locked_until_ms = ${NOW} + $4::bigint, processed_at_ms = ${NOW},
                   attempts_started = j.attempts_started + 1
               from next n where j.queue = $1 and j.id = n.id
               returning j.id, j.data::text as data, j.added_at_ms, j.priority, j.seq, j.deferred_failure
           )
           select t.id, t.data, t.added_at_ms::float8 as timestamp, t.priority, t.deferred_failure as "deferredFailure"
           from (select count(*) from woken) w left join taken t on true
           order by t.priority, t.seq`,
};

/** Returns the locked jobs of a worker to the queue, and wakes another worker. $1 queue, $2 token, $3 ids of jobs to keep. */
export const GIVE_BACK = {
    name: 'queue-give-back',
    text: `with returned as (
               update job set state = 'waiting', lock_token = null, locked_until_ms = null
               where queue = $1 and state = 'active' and lock_token = $2 and id <> all($3::text[]) returning id)
           select pg_notify('bullmq_jobs', $1) where exists (select from returned)`,
};

/** Renews the locks of a worker. $1 queue, $2 token, $3 ids, $4 duration of the locks in ms. Returns the ids that the worker no longer holds. */
export const RENEW = {
    name: 'queue-renew',
    text: `with renewed as (
               update job set locked_until_ms = ${NOW} + $4::bigint
               where queue = $1 and state = 'active' and lock_token = $2 and id = any($3::text[]) returning id)
           select id from unnest($3::text[]) as asked (id) where id not in (select id from renewed)`,
};

/** $1 queue, $2 maximum of stalls, $3 interval of the checks in ms. */
export const STALLED = { name: 'queue-stalled', text: `select s as id from move_stalled_jobs_to_wait($1, $2, ${NOW}, $3) as s` };
