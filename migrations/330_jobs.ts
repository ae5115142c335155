import type { Knex } from 'knex';

export { down } from './100_common_functions.ts';

/**
 * Calls that are answered later, alone or in batches (docs/jobs.md, "Jobs" and "Batches"). A job and its credits change together: to end a
 * running job, one transaction locks its row, then its hold, and writes both. Rows are locked in one order: jobs, the rows that a change of
 * credits locks, batches, job_accounts; each by id.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(JOBS);
    await knex.raw(BATCHES);
    await knex.raw(COUNTS);
}

const JOBS = `
    create table jobs (
        job_id text collate "C" primary key check (job_id like 'job\\_%'),
        -- The order of creation.
        number bigint generated always as identity,
        workspace_id text collate "C" not null,
        -- The key whose rights it has, and the account that pays: as of its order, later as of its last start.
        key_id text collate "C" not null,
        account_id text collate "C" not null,
        site text collate "C" not null,
        registrable text collate "C" not null,
        endpoint text collate "C" not null,
        version_id bigint not null,
        version integer not null,
        effect text not null check (effect in ('read', 'write')),
        -- The right that a key needs to see it: write also for a POST that only its author calls a read.
        needs text not null check (needs in ('read', 'write')),
        -- JSON in its original text.
        metadata text not null,
        session_id text,
        -- The connection that sends its credential. If owner_id is set, only this user sees the job; null: others may use the
        -- connection too.
        connection_id text collate "C",
        owner_id text collate "C",
        -- The request, encrypted; null after it was deleted.
        request bytea,
        -- Credits per unit, and the most units that may be billed, as of the order.
        unit integer not null,
        units_cap integer,
        -- What bounds its cost, for its order and for retries: the unit price times the lowest of \`units\`, \`units_cap\` and what
        -- \`max_credits\` buys.
        units integer,
        max_credits bigint,
        status text not null default 'queued' check (status in ('queued', 'running', 'succeeded', 'failed', 'cancelled', 'expired')),
        waiting_for text check (waiting_for in ('credits', 'limits', 'site', 'storage')),
        created_at timestamptz not null default app_now(),
        started_at timestamptz,
        finished_at timestamptz,
        expires_at timestamptz not null,
        -- The earliest time of the next attempt.
        due_at timestamptz not null default app_now(),
        attempts smallint not null default 0,
        -- Attempts whose worker died.
        deaths smallint not null default 0,
        -- The attempt that a worker prepares or runs, and until when this worker counts as alive (real time).
        operation text collate "C",
        lease_until timestamptz,
        -- The hold of its slice while it runs; null: the hold of its own operation. Credits of that hold that are its own.
        hold_operation text collate "C",
        held bigint not null default 0,
        -- True: it is a write and may have been sent.
        was_sent boolean not null default false,
        credits_used bigint not null default 0,
        -- The error of the last failed attempt. Details beyond the code are encrypted.
        code text,
        error bytea,
        -- Encrypted, in two parts. The account's remaining credits after the charge are inserted between them.
        result bytea,
        remaining bigint,
        -- The stored copy for max_age.
        question text,
        result_expired boolean not null default false,
        -- For an item of a batch, with its number among the ended items.
        batch_id text collate "C",
        custom_id text,
        end_number bigint,
        -- For a run of a monitor.
        monitor_id text collate "C"
    ) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
    alter table jobs alter column request set storage external, alter column result set storage external;
    create index jobs_of_workspace on jobs (workspace_id, number);
    create index jobs_of_batch on jobs (batch_id, number) where batch_id is not null;
    create index jobs_ended on jobs (batch_id, end_number) where end_number is not null;
    create index jobs_results on jobs (account_id, finished_at) where result is not null;
    create index jobs_finished on jobs (finished_at) where finished_at is not null;
    create index jobs_kept on jobs (finished_at) where request is not null and finished_at is not null;
    -- No index depends on status or lease_until, so a job starts and its lease is renewed without new index entries where the page has
    -- space.
    create index jobs_due on jobs (account_id, due_at, number) where finished_at is null and operation is null and batch_id is null;
    create index jobs_due_of_batch on jobs (batch_id, due_at, number)
        where finished_at is null and operation is null and batch_id is not null;
    create index jobs_leased on jobs (number) where operation is not null;
    -- Not for items, which expire with their batch. Claims cannot read this index, because they have no condition on the number. When
    -- statistics say that hardly a job is queued, it looks as small as theirs, and the planner once read all queued jobs for each claim.
    create index jobs_expiry on jobs (expires_at) where finished_at is null and operation is null and batch_id is null and number > 0;

    -- What an account has open and stored, updated only by the triggers; and what it ordered that day (UTC). Jobs that end early, such
    -- as cancelled ones, stay stored and need a limit too.
    create table job_accounts (
        account_id text collate "C" primary key,
        open_items bigint not null default 0 check (open_items >= 0),
        open_bytes bigint not null default 0 check (open_bytes >= 0),
        result_bytes bigint not null default 0 check (result_bytes >= 0),
        ordered_on date not null default '-infinity',
        ordered_items bigint not null default 0,
        ordered_bytes bigint not null default 0
    ) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

    -- When a job of an account, or an item of a batch, was last claimed (real time). Only claims write this table, so that they never
    -- wait for a long order of one account.
    create table job_turns (
        -- account_id or batch_id
        line text collate "C" primary key,
        served_at timestamptz not null
    ) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

    -- Pauses by an operator: jobs of an account, of a site, of both together, or all if neither is set.
    create table job_pauses (
        account_id text collate "C" not null default '',
        site text collate "C" not null default '',
        paused_at timestamptz not null default app_now(),
        primary key (account_id, site)
    );
`;

const BATCHES = `
    create table batches (
        batch_id text collate "C" primary key check (batch_id like 'bat\\_%'),
        -- The order of creation.
        number bigint generated always as identity,
        workspace_id text collate "C" not null,
        -- The key whose rights its items have (of the person who created, or last resumed or retried it), and the account that paid
        -- then.
        key_id text collate "C" not null,
        account_id text collate "C" not null,
        name text,
        -- JSON in its original text.
        metadata text not null,
        -- The right that a key needs to see it: the highest that an item needs.
        needs text not null check (needs in ('read', 'write')),
        sites text[] not null,
        endpoints text[] not null,
        connections text[] not null,
        owner_id text collate "C",
        status text not null default 'running'
            check (status in ('running', 'paused', 'cancelling', 'succeeded', 'finished', 'cancelled', 'expired')),
        paused_reason text check (paused_reason in ('caller', 'max_credits', 'failures', 'key')),
        waiting_for text check (waiting_for in ('credits', 'limits', 'site', 'storage')),
        created_at timestamptz not null default app_now(),
        finished_at timestamptz,
        -- Seconds. A retry starts them again.
        expires_in integer not null,
        expires_at timestamptz not null,
        -- No item starts before this time.
        due_at timestamptz not null default app_now(),
        -- The most credits that its items can cost, and the caller's own limit.
        greatest_cost bigint not null,
        max_credits bigint,
        stop_after_failures integer,
        -- The number of the last ended item. This row stays locked until the end is committed, so no reader skips an item.
        ends bigint not null default 0,
        -- Updated only by the trigger of jobs. Exception: a resume or a retry sets failures to 0.
        credits_used bigint not null default 0,
        credits_held bigint not null default 0,
        failures integer not null default 0,
        queued integer not null default 0,
        running integer not null default 0,
        succeeded integer not null default 0,
        failed integer not null default 0,
        cancelled integer not null default 0,
        expired integer not null default 0
    ) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
    create index batches_of_workspace on batches (workspace_id, number);
    create index batches_open on batches (account_id) where finished_at is null;
    create index batches_finished on batches (finished_at) where finished_at is not null;

    -- Items of request bodies that are still arriving. The sweeper deletes those of aborted bodies.
    create unlogged table batch_drafts (
        batch_id text collate "C" not null,
        place integer not null,
        item jsonb not null,
        request bytea not null,
        created_at timestamptz not null default app_now(),
        primary key (batch_id, place)
    );
    create index batch_drafts_age on batch_drafts (created_at);
`;

/** The triggers that count. */
const COUNTS = `
    create function jobs_count(p_account text, p_items numeric, p_bytes numeric, p_results numeric) returns void language sql as $$
        -- A row that is proposed has to satisfy the checks as well: the difference may be negative.
        insert into job_accounts (account_id) values (p_account) on conflict do nothing;
        update job_accounts set open_items = open_items + p_items, open_bytes = open_bytes + p_bytes,
                                result_bytes = result_bytes + p_results where account_id = p_account;
    $$;

    -- Counts per statement, since a batch has thousands of rows.
    create function jobs_added() returns trigger language plpgsql as $$
    declare
        c record;
    begin
        update batches b set queued = b.queued + n.items
            from (select batch_id, count(*) as items from new_jobs where batch_id is not null group by 1) n where b.batch_id = n.batch_id;
        for c in select account_id, count(*) as items, sum(coalesce(octet_length(request), 0)) as bytes
                 from new_jobs group by 1 order by 1 loop
            perform jobs_count(c.account_id, c.items, c.bytes, 0);
        end loop;
        return null;
    end $$;
    create function jobs_changed() returns trigger language plpgsql as $$
    declare
        c record;
    begin
        for c in
            select batch_id, sum(n * (status = 'queued')::integer) as queued, sum(n * (status = 'running')::integer) as running,
                   sum(n * (status = 'succeeded')::integer) as succeeded, sum(n * (status = 'failed')::integer) as failed,
                   sum(n * (status = 'cancelled')::integer) as cancelled, sum(n * (status = 'expired')::integer) as expired,
                   sum(n * credits_used) as used, sum(n * held) as held
            from (select -1 as n, batch_id, status, credits_used, held from old_jobs where batch_id is not null union all
                  select 1, batch_id, status, credits_used, held from new_jobs where batch_id is not null) j
            group by 1 order by 1
        loop
            continue when c.queued = 0 and c.running = 0 and c.succeeded = 0 and c.failed = 0 and c.cancelled = 0 and c.expired = 0
                and c.used = 0 and c.held = 0;
            update batches b
                set queued = b.queued + c.queued, running = b.running + c.running, succeeded = b.succeeded + c.succeeded,
                    failed = b.failed + c.failed, cancelled = b.cancelled + c.cancelled, expired = b.expired + c.expired,
                    credits_used = b.credits_used + c.used, credits_held = b.credits_held + c.held,
                    failures = b.failures + greatest(0, c.failed)
                where b.batch_id = c.batch_id;
        end loop;
        -- In the order of their ids, so that two moves never wait for each other.
        for c in
            select account_id, sum(n * is_open) as items, sum(n * is_open * coalesce(octet_length(request), 0)) as bytes,
                   sum(n * coalesce(octet_length(result), 0)) as results
            from (select -1 as n, account_id, (status in ('queued', 'running'))::integer as is_open, request, result from old_jobs union all
                  select 1, account_id, (status in ('queued', 'running'))::integer, request, result from new_jobs) j
            group by 1 order by 1
        loop
            continue when c.items = 0 and c.bytes = 0 and c.results = 0;
            perform jobs_count(c.account_id, c.items, c.bytes, c.results);
        end loop;
        return null;
    end $$;
    create function jobs_deleted() returns trigger language plpgsql as $$
    declare
        c record;
    begin
        for c in
            select account_id, sum(is_open) as items, sum(is_open * coalesce(octet_length(request), 0)) as bytes,
                   sum(coalesce(octet_length(result), 0)) as results
            from (select account_id, (status in ('queued', 'running'))::integer as is_open, request, result from old_jobs) j
            group by 1 order by 1
        loop
            perform jobs_count(c.account_id, -c.items, -c.bytes, -c.results);
        end loop;
        return null;
    end $$;
    create trigger jobs_added after insert on jobs referencing new table as new_jobs for each statement execute function jobs_added();
    create trigger jobs_changed after update on jobs referencing old table as old_jobs new table as new_jobs
        for each statement execute function jobs_changed();
    create trigger jobs_deleted after delete on jobs referencing old table as old_jobs
        for each statement execute function jobs_deleted();
`;
