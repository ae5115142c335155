import type { Knex } from 'knex';

/**
 * Batches (docs/api.md, "Batches"): many jobs that are ordered at once. Their items are rows of `jobs`. Rows are locked in one order: jobs,
 * the rows that a change of credits locks, batches, job_accounts; each by id.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
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
            -- No item starts before due_at. served_at: when an item was last chosen (real time).
            due_at timestamptz not null default app_now(),
            served_at timestamptz not null default '-infinity',
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

        alter table jobs
            add batch_id text collate "C",
            add custom_id text,
            -- Its number among the ended items of its batch.
            add end_number bigint,
            -- Credits that are held while it is running.
            add held bigint not null default 0,
            -- True: it is a write and may have been sent.
            add was_sent boolean not null default false;
        create index jobs_of_batch on jobs (batch_id, number) where batch_id is not null;
        create index jobs_ended on jobs (batch_id, end_number) where end_number is not null;
        drop index jobs_due;
        create index jobs_due on jobs (account_id, due_at, number) where status = 'queued' and operation is null and batch_id is null;
        create index jobs_due_of_batch on jobs (batch_id, due_at, number)
            where status = 'queued' and operation is null and batch_id is not null;

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

        -- Pauses by an operator: jobs of an account, of a site, of both together, or all if neither is set.
        create table job_pauses (
            account_id text collate "C" not null default '',
            site text collate "C" not null default '',
            paused_at timestamptz not null default app_now(),
            primary key (account_id, site)
        );

        drop trigger jobs_counted on jobs;
        drop function jobs_counted;
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
        -- The parameters become numeric, since sums are.
        drop function jobs_count;
        create function jobs_count(p_account text, p_items numeric, p_bytes numeric, p_results numeric) returns void language sql as $$
            -- A row that is proposed has to satisfy the checks as well: the difference may be negative.
            insert into job_accounts (account_id) values (p_account) on conflict do nothing;
            update job_accounts set open_items = open_items + p_items, open_bytes = open_bytes + p_bytes,
                                    result_bytes = result_bytes + p_results where account_id = p_account;
        $$;
    `);
}

/** Batches are lost. Their items become separate jobs. */
export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        drop trigger jobs_added on jobs;
        drop trigger jobs_changed on jobs;
        drop trigger jobs_deleted on jobs;
        drop function jobs_added, jobs_changed, jobs_deleted, jobs_count;
        drop table batches, batch_drafts, job_pauses;
        drop index jobs_due, jobs_due_of_batch;
        alter table jobs drop batch_id, drop custom_id, drop end_number, drop held, drop was_sent;
        create index jobs_due on jobs (account_id, due_at, number) where status = 'queued' and operation is null;
        create function jobs_count(p_account text, p_items bigint, p_bytes bigint, p_results bigint) returns void language sql as $$
            insert into job_accounts (account_id) values (p_account) on conflict do nothing;
            update job_accounts set open_items = open_items + p_items, open_bytes = open_bytes + p_bytes,
                                    result_bytes = result_bytes + p_results where account_id = p_account;
        $$;
        create function jobs_counted() returns trigger language plpgsql as $$
        declare
            was_open integer := 0;
            is_open integer := 0;
            old_bytes bigint := 0;
            new_bytes bigint := 0;
            old_results bigint := 0;
            new_results bigint := 0;
        begin
            if tg_op <> 'INSERT' then
                was_open := (old.status in ('queued', 'running'))::integer;
                old_bytes := was_open * coalesce(octet_length(old.request), 0);
                old_results := coalesce(octet_length(old.result), 0);
            end if;
            if tg_op <> 'DELETE' then
                is_open := (new.status in ('queued', 'running'))::integer;
                new_bytes := is_open * coalesce(octet_length(new.request), 0);
                new_results := coalesce(octet_length(new.result), 0);
            end if;
            if tg_op = 'UPDATE' and old.account_id <> new.account_id then
                if old.account_id < new.account_id then
                    perform jobs_count(old.account_id, -was_open, -old_bytes, -old_results);
                    perform jobs_count(new.account_id, is_open, new_bytes, new_results);
                else
                    perform jobs_count(new.account_id, is_open, new_bytes, new_results);
                    perform jobs_count(old.account_id, -was_open, -old_bytes, -old_results);
                end if;
            elsif is_open <> was_open or new_bytes <> old_bytes or new_results <> old_results then
                perform jobs_count(case when tg_op = 'DELETE' then old.account_id else new.account_id end,
                                   is_open - was_open, new_bytes - old_bytes, new_results - old_results);
            end if;
            return null;
        end $$;
        create trigger jobs_counted after insert or update or delete on jobs for each row execute function jobs_counted();
    `);
}
