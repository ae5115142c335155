import type { Knex } from 'knex';

/**
 * Calls that are answered later (docs/api.md, "Jobs"). A job and its credits change together: to end a running job, one transaction locks
 * its row, then its hold, and writes both.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
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
            credits_used bigint not null default 0,
            -- The error of the last failed attempt. Details beyond the code are encrypted.
            code text,
            error bytea,
            -- Encrypted, in two parts. The account's remaining credits after the charge are inserted between them.
            result bytea,
            remaining bigint,
            -- The stored copy for max_age.
            question text,
            result_expired boolean not null default false
        ) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
        alter table jobs alter column request set storage external, alter column result set storage external;
        create index jobs_of_workspace on jobs (workspace_id, number);
        create index jobs_due on jobs (account_id, due_at, number) where status = 'queued' and operation is null;
        create index jobs_leased on jobs (lease_until) where operation is not null;
        create index jobs_expiry on jobs (expires_at) where status = 'queued';
        create index jobs_results on jobs (account_id, finished_at) where result is not null;
        create index jobs_kept on jobs (finished_at) where request is not null;
        create index jobs_finished on jobs (finished_at) where finished_at is not null;

        -- The open and stored jobs of an account, updated only by the trigger; and when one of its jobs last had its turn (real time).
        create table job_accounts (
            account_id text collate "C" primary key,
            open_items bigint not null default 0 check (open_items >= 0),
            open_bytes bigint not null default 0 check (open_bytes >= 0),
            result_bytes bigint not null default 0 check (result_bytes >= 0),
            served_at timestamptz not null default '-infinity'
        ) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

        create function jobs_count(p_account text, p_items bigint, p_bytes bigint, p_results bigint) returns void language sql as $$
            -- A row that is proposed has to satisfy the checks as well: the difference may be negative.
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
                -- In the order of their ids, so that two moves never wait for each other.
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

export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        drop table jobs, job_accounts;
        drop function jobs_counted, jobs_count;
    `);
}
