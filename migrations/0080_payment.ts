import type { Knex } from 'knex';

/**
 * What Stripe is asked for and what it said: checkouts that we began, the subscription of each workspace as it was last read,
 * invoices that were paid, and events that were handled. Plans never follow from an event, only from these rows.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table checkouts (
            id text collate "C" primary key check (id like 'chk\\_%'),
            workspace_id text collate "C" not null references workspaces (id),
            user_id text collate "C" not null,
            plan text not null check (plan in ('starter', 'pro')),
            session_id text collate "C" unique,
            state text not null default 'open' check (state in ('open', 'done', 'closed')),
            created_at timestamptz not null default app_now()
        );
        -- Nobody pays twice: a workspace has one checkout that can be paid.
        create unique index checkouts_open on checkouts (workspace_id) where state = 'open';
        comment on column checkouts.session_id is 'Stripe''s; it is how a subscription is known to belong to this workspace';

        create table subscriptions (
            workspace_id text collate "C" primary key references workspaces (id),
            customer_id text collate "C",
            subscription_id text collate "C" unique,
            item_id text collate "C",
            status text,
            plan text check (plan in ('starter', 'pro')),
            period_end timestamptz,
            ends_at timestamptz,
            ended_by text check (ended_by in ('refund', 'dispute', 'unpaid', 'deletion')),
            reads_begun bigint not null default 0,
            reads_applied bigint not null default 0,
            checked_at timestamptz not null default app_now(),
            check ((subscription_id is null) = (status is null))
        );
        comment on column subscriptions.plan is 'of the price now: what the next invoice is for; null for a price that is none of ours';
        comment on column subscriptions.ends_at is 'it was cancelled, and ends then';
        comment on column subscriptions.ended_by is 'why we ended it; it is cancelled at Stripe until that says so too';
        comment on column subscriptions.reads_begun is 'a read of Stripe is written only by whoever began the last one';
        create index subscriptions_to_cancel on subscriptions (workspace_id) where ended_by is not null;

        create table paid_invoices (
            id text collate "C" primary key,
            workspace_id text collate "C" not null references workspaces (id),
            subscription_id text collate "C" not null,
            plan text not null check (plan in ('starter', 'pro')),
            period_start timestamptz not null,
            period_end timestamptz not null,
            number text,
            amount_cents bigint not null,
            currency text not null,
            link text,
            paid_at timestamptz not null,
            granted_at timestamptz,
            taken_back_at timestamptz,
            check (period_start < period_end)
        );
        comment on table paid_invoices is 'each grants the allowance of its period once, or nothing where a later one was granted before';
        create index paid_invoices_of_workspace on paid_invoices (workspace_id, period_end);

        create table stripe_events (
            id text collate "C" primary key,
            type text not null,
            handled_at timestamptz not null default app_now()
        );
        create index stripe_events_by_time on stripe_events (handled_at);

        alter table credit_accounts add column billing_date timestamptz;
        comment on column credit_accounts.billing_date is 'of a subscription: its period ends then, and the next one begins by a paid invoice; resets_at is when what is left of the old allowance lapses';
        create index credit_accounts_by_billing_date on credit_accounts (billing_date) where billing_date is not null;
    `);
    for (const sql of [TURN, RENEW]) await knex.raw(sql);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        drop function credits_renew(text, text, integer, timestamptz, timestamptz);
        drop function credits_turn_period(credit_accounts, timestamptz);
        alter function credits_turn_month(credit_accounts, timestamptz) rename to credits_turn_period;
        drop index credit_accounts_by_billing_date;
        alter table credit_accounts drop column billing_date;
        drop table stripe_events;
        drop table paid_invoices;
        drop table subscriptions;
        drop table checkouts;
    `);
}

/** A month of the calendar begins by itself. A subscription's does not: what is left of the old one lapses, and nothing is granted. */
const TURN = `
    alter function credits_turn_period(credit_accounts, timestamptz) rename to credits_turn_month;

    -- The caller has locked the row and found that resets_at is past.
    create function credits_turn_period(account credit_accounts, moment timestamptz) returns credit_accounts language plpgsql as $$
    begin
        if account.billing_date is null then
            return credits_turn_month(account, moment);
        end if;
        if account.allowance_available > 0 then
            insert into ledger_entries (account_id, kind, available_delta, held_delta, note, at)
                values (account.id, 'expire', -account.allowance_available, 0, 'period ' || account.period_number || ', not renewed', moment);
        end if;
        -- Another number, so that what is held of the old allowance lapses too.
        update credit_accounts c
            set period_number = c.period_number + 1, allowance_available = 0, resets_at = 'infinity'
            where c.id = account.id
            returning c.* into account;
        return account;
    end $$;
`;

/** The period that an invoice paid for: from here on its billing date counts. The caller has seen to it that it happens once per invoice. */
const RENEW = `
    create function credits_renew(p_id text, p_plan text, p_plan_allowance integer, p_from timestamptz, p_until timestamptz)
    returns void language plpgsql as $$
    declare
        moment timestamptz := app_now();
        account credit_accounts;
        keeps_limits boolean;
        figure integer;
    begin
        insert into credit_accounts (id, plan, anchored_at, anchored_period, period_number, period_start, resets_at,
                                     allowance, allowance_available, bonus_available, held)
            values (p_id, p_plan, p_from, 0, 0, p_from, p_until, 0, 0, 0, 0) on conflict do nothing;
        select c.* into account from credit_accounts c where c.id = p_id for update;
        keeps_limits := account.plan = p_plan;
        figure := case when keeps_limits then coalesce(account.allowance_override, p_plan_allowance) else p_plan_allowance end;
        insert into ledger_entries (account_id, kind, available_delta, held_delta, note, at)
            select p_id, e.kind, e.delta, 0, 'period ' || account.period_number + e.period, moment
            from (values ('expire', -account.allowance_available, 0), ('grant', figure, 1)) as e (kind, delta, period)
            where e.delta <> 0;
        update credit_accounts c
            set plan = p_plan, moved_to = null,
                anchored_at = p_from, anchored_period = c.period_number + 1, period_number = c.period_number + 1,
                period_start = p_from, billing_date = p_until, resets_at = p_until + interval '3 days',
                allowance = figure, allowance_available = figure,
                allowance_override = case when keeps_limits then c.allowance_override end,
                per_minute = case when keeps_limits then c.per_minute end, per_hour = case when keeps_limits then c.per_hour end,
                per_day = case when keeps_limits then c.per_day end, concurrency = case when keeps_limits then c.concurrency end
            where c.id = p_id;
    end $$;
`;
