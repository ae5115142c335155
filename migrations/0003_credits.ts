import type { Knex } from 'knex';

/**
 * Where credits stand (`credit_accounts`), what is promised to calls in flight (`holds`), why it stands there
 * (`ledger_entries`, append-only) and what was earned once and for all (`earned_bonuses`). For every account the ledger's
 * `available_delta` sums to allowance_available + bonus_available, and its `held_delta` to held.
 *
 * `holds` has no foreign keys on purpose: each would lock the account's row once more per call, and whoever inserts a hold
 * has that row locked already.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table credit_accounts (
            id text collate "C" primary key check (id like 'usr\\_%' or id like 'wsp\\_%'),
            plan text not null check (plan in ('free', 'starter', 'pro', 'enterprise')),
            per_minute integer check (per_minute >= 0),
            per_hour integer check (per_hour >= 0),
            per_day integer check (per_day >= 0),
            allowance_override integer check (allowance_override >= 0),
            concurrency integer check (concurrency >= 0),
            anchored_at timestamptz not null,
            anchored_period integer not null default 1,
            period_number integer not null check (period_number >= anchored_period),
            period_start timestamptz not null,
            resets_at timestamptz not null,
            allowance integer not null check (allowance >= 0),
            allowance_available bigint not null check (allowance_available >= 0),
            bonus_available bigint not null check (bonus_available >= 0),
            held bigint not null check (held >= 0),
            moved_to text collate "C" references credit_accounts (id) check (moved_to <> id),
            created_at timestamptz not null default app_now(),
            check (period_start < resets_at),
            check (allowance_available <= allowance)
        ) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
        comment on column credit_accounts.allowance is 'limit of this period and of the next ones: the override or the plan''s figure';
        comment on column credit_accounts.anchored_period is 'the period that began at anchored_at; numbers only ever grow, so that a hold never meets another period of its own number';
        comment on column credit_accounts.moved_to is 'nobody spends here any more; bonus that comes back belongs there';
        create index credit_accounts_by_reset on credit_accounts (resets_at);
        create index credit_accounts_moved on credit_accounts (id) where moved_to is not null;

        create table holds (
            operation text collate "C" primary key,
            account_id text collate "C" not null,
            user_id text collate "C" not null,
            workspace_id text collate "C" not null,
            key_id text collate "C" not null,
            site text not null,
            endpoint text not null,
            version_id bigint not null,
            effect text not null check (effect in ('read', 'write')),
            amount bigint not null check (amount > 0),
            from_allowance bigint not null check (from_allowance >= 0),
            from_bonus bigint not null check (from_bonus >= 0),
            units integer not null check (units > 0),
            period_number integer not null,
            state text not null default 'held' check (state in ('held', 'sent', 'charged', 'released')),
            created_at timestamptz not null,
            expires_at timestamptz not null,
            sent_at timestamptz,
            sent_by text,
            settled_at timestamptz,
            charged bigint check (charged between 0 and amount),
            check (from_allowance + from_bonus = amount),
            check ((settled_at is null) = (state in ('held', 'sent'))),
            check ((charged is not null) = (state = 'charged'))
        ) with (autovacuum_vacuum_scale_factor = 0.05);
        comment on column holds.sent_at is 'a worker marked it before the first byte; stays when the hold is settled, so that whoever comes second still learns of it';
        create index holds_open on holds (expires_at) where state in ('held', 'sent');

        create table ledger_entries (
            id bigint generated always as identity,
            account_id text collate "C" not null,
            operation text collate "C",
            kind text not null check (kind in ('grant', 'expire', 'lapse', 'hold', 'charge', 'release',
                                               'first_fetch', 'referral', 'contribution', 'bonus', 'move')),
            available_delta bigint not null,
            held_delta bigint not null,
            note text,
            at timestamptz not null,
            primary key (account_id, id)
        );
        -- An operation ends once: by a charge or by a release. (That it begins once is the primary key of holds.)
        create unique index ledger_entries_settlement on ledger_entries (operation) where kind in ('charge', 'release');
        create trigger ledger_entries_append_only before update or delete or truncate on ledger_entries
            for each statement execute function refuse_change();

        create table earned_bonuses (
            kind text not null check (kind in ('referral', 'contribution')),
            subject text collate "C" not null,
            beneficiary text collate "C" not null,
            credits integer not null check (credits >= 0),
            at timestamptz not null,
            primary key (kind, subject)
        );
        comment on column earned_bonuses.subject is 'the invited user, or the registrable domain';
        comment on column earned_bonuses.beneficiary is 'the inviting user, or the account that contributed';
        create index earned_bonuses_of_beneficiary on earned_bonuses (kind, beneficiary, at);
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        drop table earned_bonuses;
        drop table ledger_entries;
        drop table holds;
        drop table credit_accounts;
    `);
}
