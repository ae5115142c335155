import type { Knex } from 'knex';

export { down } from './100_common_functions.ts';

/**
 * Credits: accounts, holds for running calls, the append-only ledger, and bonuses. For each account, the sum of the ledger's
 * available_delta is allowance_available + bonus_available, and the sum of held_delta is held.
 *
 * All functions take locks in one order: domains, holds (by operation), users, owed_contributions, credit_accounts (by id), day_spending,
 * idempotency, idempotency_bytes (by workspace).
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table credit_accounts (
            id text collate "C" primary key check (id like 'usr\\_%' or id like 'wsp\\_%')
                constraint credit_accounts_not_routebook check (id <> 'wsp_routebook'),
            plan text not null check (plan in ('free', 'starter', 'pro', 'enterprise')),
            -- Values that an operator set for this account; null: those of the plan.
            per_minute integer check (per_minute >= 0),
            per_hour integer check (per_hour >= 0),
            per_day integer check (per_day >= 0),
            allowance_override integer check (allowance_override >= 0),
            concurrency integer check (concurrency >= 0),
            monitors integer check (monitors >= 0),
            -- The most credits that the account may spend a day (UTC); null: no cap.
            day_cap integer check (day_cap >= 0),
            -- Months are counted from anchored_at, when the period anchored_period began. Numbers of periods only grow, so a hold never
            -- meets another period with the same number.
            anchored_at timestamptz not null,
            anchored_period integer not null default 1,
            period_number integer not null check (period_number >= anchored_period),
            period_start timestamptz not null,
            -- At this time the next month begins. With a subscription, the rest of the allowance expires instead.
            resets_at timestamptz not null,
            -- With a subscription: the end of its period. The next period begins when its invoice is paid.
            billing_date timestamptz,
            -- The allowance of this period and the next ones.
            allowance integer not null check (allowance >= 0),
            allowance_available bigint not null check (allowance_available >= 0),
            bonus_available bigint not null check (bonus_available >= 0),
            held bigint not null check (held >= 0),
            -- Set if this account is no longer used. Bonus credits that return to it go to the account named here.
            moved_to text collate "C" references credit_accounts (id) check (moved_to <> id),
            created_at timestamptz not null default app_now(),
            check (period_start < resets_at),
            check (allowance_available <= allowance)
        ) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
        create index credit_accounts_by_reset on credit_accounts (resets_at);
        create index credit_accounts_by_billing_date on credit_accounts (billing_date) where billing_date is not null;
        create index credit_accounts_moved on credit_accounts (id) where moved_to is not null;

        -- No foreign keys: each would lock one more row per call, and the account is already locked. Connections keep their plans. The
        -- vacuum thresholds keep the statistics from saying that the table is so small that a full scan is cheap.
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
            -- When and by which worker it was marked, before the first byte was sent. The mark stays after the hold has ended, so that a
            -- second call that ends it learns about the mark.
            sent_at timestamptz,
            sent_by text,
            settled_at timestamptz,
            charged bigint check (charged between 0 and amount),
            -- True: its whole amount is counted in day_spending. False again after the unspent part was subtracted there.
            is_capped boolean not null default false,
            -- For a slice of a batch: the number of items that share the hold, the credits that its ended items held, and those of them
            -- that were charged.
            batch_id text collate "C",
            items integer,
            parts_ended bigint not null default 0,
            parts_charged bigint not null default 0,
            check (from_allowance + from_bonus = amount),
            check ((settled_at is null) = (state in ('held', 'sent'))),
            check ((charged is not null) = (state = 'charged'))
        ) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 2000, autovacuum_analyze_threshold = 2000);
        create index holds_open on holds (expires_at) where state in ('held', 'sent');
        create index holds_capped on holds (account_id) where is_capped;

        create table ledger_entries (
            id bigint generated always as identity,
            account_id text collate "C" not null,
            operation text collate "C",
            kind text not null check (kind in ('grant', 'expire', 'lapse', 'hold', 'charge', 'release',
                                               'first_fetch', 'referral', 'contribution', 'reclaim', 'bonus', 'move')),
            available_delta bigint not null,
            held_delta bigint not null,
            note text,
            at timestamptz not null,
            -- The hold of which this entry ends a part; null: the hold of the same operation.
            hold_operation text collate "C",
            -- The batch and the number of items that the entry is for.
            batch_id text collate "C",
            items integer,
            primary key (account_id, id)
        );
        -- An operation ends once, by a charge or by a release. (The primary key of holds ensures that it begins once.)
        create unique index ledger_entries_settlement on ledger_entries (operation) where kind in ('charge', 'release');
        create trigger ledger_entries_append_only before update or delete or truncate on ledger_entries
            for each statement execute function refuse_change();

        -- The credits that an account or a key with a cap has spent on a day: charged, or still held of that day's holds.
        create table day_spending (
            subject text collate "C" primary key,
            day date not null,
            spent bigint not null check (spent >= 0)
        );

        -- The subject is an invited user or a registrable domain, the beneficiary the inviting user or the contributing account.
        create table earned_bonuses (
            kind text not null check (kind in ('referral', 'contribution')),
            subject text collate "C" not null,
            beneficiary text collate "C" not null,
            credits integer not null check (credits >= 0),
            at timestamptz not null,
            -- Credits that an operator took back, at most the remaining bonus; null: not tried.
            reclaimed integer check (reclaimed between 0 and credits),
            primary key (kind, subject)
        );
        create index earned_bonuses_of_beneficiary on earned_bonuses (kind, beneficiary, at);

        -- Contributions that are paid when a verification run of the domain passes. If nothing can be verified, they are paid when another
        -- account calls.
        create table owed_contributions (
            registrable text collate "C" primary key references domains,
            account_id text collate "C" not null references credit_accounts (id),
            -- The account that published it. Its own calls do not pay the contribution.
            published_by text collate "C",
            credits integer not null default 50 check (credits > 0),
            a_month integer not null default 10 check (a_month > 0),
            -- Only operators read it, by hand.
            owed_since timestamptz not null default app_now()
        );
        create index owed_contributions_of_account on owed_contributions (account_id);

        -- Sites of owed contributions with a latest package that has nothing to verify.
        create table contributions_by_call (
            site text collate "C" primary key references sites,
            registrable text collate "C" not null references owed_contributions on delete cascade,
            account_id text collate "C" not null
        );
        create index contributions_by_call_of_domain on contributions_by_call (registrable);
    `);
}
