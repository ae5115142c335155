import type { Knex } from 'knex';

export { down } from './100_common_functions.ts';

/** Scheduled calls. A worker claims a due monitor, or a run with an ended job, for seconds; each later write checks its claim. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table monitors (
            monitor_id text collate "C" primary key check (monitor_id like 'mon\\_%'),
            number bigint generated always as identity,
            workspace_id text collate "C" not null,
            -- The key and user whose rights its runs have.
            key_id text collate "C" not null,
            user_id text collate "C" not null,
            name text,
            site text collate "C" not null,
            endpoint text collate "C" not null,
            -- The right that a key needs to see it: write also for a POST that only its author calls a read.
            needs text not null check (needs in ('read', 'write')),
            connection_id text collate "C",
            -- The only user who sees it; null: others may use the connection too.
            owner_id text collate "C",
            -- The call, encrypted.
            request bytea not null,
            every text,
            cron text,
            timezone text,
            watch text,
            identity text,
            -- JSON.
            told_when text not null,
            max_credits_per_day bigint,
            metadata text not null,
            status text not null default 'active' check (status in ('active', 'paused', 'failing')),
            paused_reason text check (paused_reason in ('key', 'site_blocked', 'yanked', 'plan')),
            -- The time from which "every" counts.
            since timestamptz not null default app_now(),
            next_run_at timestamptz,
            claim text collate "C",
            claimed_until timestamptz,
            -- Failures in a row.
            failures integer not null default 0,
            -- Only runs with the same base are compared.
            base integer not null default 1,
            created_at timestamptz not null default app_now(),
            check (num_nonnulls(every, cron) = 1 and (cron is null) = (timezone is null)),
            check ((status = 'paused') = (next_run_at is null))
        ) with (fillfactor = 80);
        create index monitors_of_workspace on monitors (workspace_id, number);
        create index monitors_of_user on monitors (user_id);
        create index monitors_due on monitors (next_run_at) where next_run_at is not null;

        create table monitor_runs (
            run_id text collate "C" primary key check (run_id like 'run\\_%'),
            number bigint generated always as identity,
            monitor_id text collate "C" not null references monitors on delete cascade,
            base integer not null,
            status text not null check (status in ('running', 'succeeded', 'failed', 'skipped')),
            skipped_reason text check (skipped_reason in ('unfinished', 'max_credits_per_day', 'cancelled')),
            -- The scheduled time; null: started by hand.
            due_at timestamptz,
            started_at timestamptz not null default app_now(),
            finished_at timestamptz,
            job_id text collate "C",
            version integer,
            credits_used bigint not null default 0,
            code text,
            -- Encrypted.
            error bytea,
            -- Whether the value differs from that of the run before; null: not compared.
            changed boolean,
            change_id text collate "C",
            -- The watched value, encrypted. Only the latest two runs with a value keep it.
            value bytea,
            claim text collate "C",
            claimed_until timestamptz
        ) with (fillfactor = 80);
        create unique index monitor_runs_running on monitor_runs (monitor_id) where status = 'running';
        create index monitor_runs_of_monitor on monitor_runs (monitor_id, number);

        create table monitor_changes (
            change_id text collate "C" primary key check (change_id like 'chg\\_%'),
            number bigint generated always as identity,
            monitor_id text collate "C" not null references monitors on delete cascade,
            at timestamptz not null default app_now(),
            -- Encrypted.
            diff bytea not null,
            diff_truncated boolean not null,
            before_run text collate "C" not null,
            after_run text collate "C" not null
        );
        create index monitor_changes_of_monitor on monitor_changes (monitor_id, number);
    `);
}
