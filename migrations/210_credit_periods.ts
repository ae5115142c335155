import type { Knex } from 'knex';

export { down } from './100_common_functions.ts';

/** Periods of accounts: how they begin, change, renew and end. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(FUNCTIONS);
}

const FUNCTIONS = `
    create function credits_enter(p_account text, p_kind text, p_credits bigint, p_note text) returns void language plpgsql as $$
    begin
        if p_credits <> 0 then
            insert into ledger_entries (account_id, kind, available_delta, held_delta, note, at)
                values (p_account, p_kind, p_credits, 0, p_note, app_now());
        end if;
    end $$;

    -- Months are counted from the anchor in UTC. The 31st becomes the last day of a short month, and the 31st again after it.
    create function credit_period_end(anchor timestamptz, months integer) returns timestamptz language sql immutable
        as $$ select (anchor at time zone 'UTC' + make_interval(months => months)) at time zone 'UTC' $$;

    -- Locks and returns the account. A new one has no credits and period number 0, which is no period yet.
    create function credits_lock(p_id text, p_plan text) returns credit_accounts language plpgsql as $$
    declare
        account credit_accounts;
    begin
        insert into credit_accounts (id, plan, anchored_at, anchored_period, period_number, period_start, resets_at,
                                     allowance, allowance_available, bonus_available, held)
            values (p_id, p_plan, app_now(), 0, 0, app_now(), 'infinity', 0, 0, 0, 0) on conflict do nothing;
        select c.* into account from credit_accounts c where c.id = p_id for update;
        return account;
    end $$;

    -- Begins the next period of a locked account: the rest of the allowance expires, and a whole allowance is granted.
    create function credits_begin_period(
        account credit_accounts, p_allowance integer, p_from timestamptz, p_billing_date timestamptz, p_resets_at timestamptz
    ) returns void language plpgsql as $$
    begin
        perform credits_enter(account.id, 'expire', -account.allowance_available, 'period ' || account.period_number);
        perform credits_enter(account.id, 'grant', p_allowance, 'period ' || account.period_number + 1);
        update credit_accounts c
            set anchored_at = p_from, anchored_period = c.period_number + 1, period_number = c.period_number + 1,
                period_start = p_from, billing_date = p_billing_date, resets_at = p_resets_at,
                allowance = p_allowance, allowance_available = p_allowance
            where c.id = account.id;
    end $$;

    -- The caller has locked the account and seen that resets_at is past. Months without activity are skipped: one expiry, one grant. With a
    -- subscription nothing is granted, since the next period begins with its invoice.
    create function credits_turn_period(account credit_accounts) returns credit_accounts language plpgsql as $$
    declare
        months integer := account.period_number - account.anchored_period + 1;
    begin
        if account.billing_date is not null then
            perform credits_enter(account.id, 'expire', -account.allowance_available, 'period ' || account.period_number || ', not renewed');
            -- A new period number, so that the held part of the old allowance lapses too.
            update credit_accounts c
                set period_number = c.period_number + 1, allowance_available = 0, resets_at = 'infinity'
                where c.id = account.id
                returning c.* into account;
            return account;
        end if;
        while credit_period_end(account.anchored_at, months) <= app_now() loop
            months := months + 1;
        end loop;
        perform credits_enter(account.id, 'expire', -account.allowance_available, 'period ' || account.period_number);
        perform credits_enter(account.id, 'grant', account.allowance, 'period ' || account.anchored_period + months - 1);
        update credit_accounts c
            set period_number = c.anchored_period + months - 1,
                period_start = credit_period_end(c.anchored_at, months - 1),
                resets_at = credit_period_end(c.anchored_at, months),
                allowance_available = c.allowance
            where c.id = account.id
            returning c.* into account;
        return account;
    end $$;

    -- Opens the account or changes it. With p_restart a new period begins at once. Without it the period continues, and usage of the old
    -- limit counts as usage of the new one. p_limits contains overrides; absent ones follow the plan.
    create function credits_open(p_id text, p_plan text, p_plan_allowance integer, p_limits jsonb, p_restart boolean)
    returns void language plpgsql as $$
    declare
        account credit_accounts := credits_lock(p_id, p_plan);
        figure integer := coalesce((p_limits ->> 'allowance')::integer, p_plan_allowance);
        next bigint;
    begin
        if account.resets_at <= app_now() then
            account := credits_turn_period(account);
        end if;
        if p_restart or account.period_number = 0 then
            perform credits_begin_period(account, figure, app_now(), null, credit_period_end(app_now(), 1));
        else
            next := least(figure, greatest(0, account.allowance_available + figure - account.allowance));
            perform credits_enter(p_id, case when next > account.allowance_available then 'grant' else 'expire' end,
                                  next - account.allowance_available, 'limit ' || figure);
            update credit_accounts c set allowance = figure, allowance_available = next where c.id = p_id;
        end if;
        update credit_accounts c
            set plan = p_plan, moved_to = null, allowance_override = (p_limits ->> 'allowance')::integer,
                per_minute = (p_limits ->> 'perMinute')::integer, per_hour = (p_limits ->> 'perHour')::integer,
                per_day = (p_limits ->> 'perDay')::integer, concurrency = (p_limits ->> 'concurrency')::integer,
                monitors = (p_limits ->> 'monitors')::integer
            where c.id = p_id;
    end $$;

    -- Begins the period that an invoice paid for. The caller calls this once per invoice. Overrides stay if the plan stays the same. The
    -- rest of the allowance may be used until three days after p_until.
    create function credits_renew(p_id text, p_plan text, p_plan_allowance integer, p_from timestamptz, p_until timestamptz)
    returns void language plpgsql as $$
    declare
        account credit_accounts := credits_lock(p_id, p_plan);
        keeps_limits boolean := account.plan = p_plan;
        override integer := case when keeps_limits then account.allowance_override end;
    begin
        perform credits_begin_period(account, coalesce(override, p_plan_allowance), p_from, p_until, p_until + interval '3 days');
        update credit_accounts c
            set plan = p_plan, moved_to = null, allowance_override = override,
                per_minute = case when keeps_limits then c.per_minute end, per_hour = case when keeps_limits then c.per_hour end,
                per_day = case when keeps_limits then c.per_day end, concurrency = case when keeps_limits then c.concurrency end,
                monitors = case when keeps_limits then c.monitors end
            where c.id = p_id;
    end $$;

    -- Returns the account with its current period, even if no sweeper runs.
    create function credits_refresh(p_id text) returns setof credit_accounts language plpgsql as $$
    declare
        account credit_accounts;
    begin
        select c.* into account from credit_accounts c where c.id = p_id for update;
        if found and account.resets_at <= app_now() then
            account := credits_turn_period(account);
        end if;
        return query select c.* from credit_accounts c where c.id = p_id;
    end $$;

    -- Ends periods that are over, of accounts that no other transaction has locked. Returns how many.
    create function credits_turn_due(p_limit integer) returns integer language plpgsql as $$
    declare
        account credit_accounts;
        turned integer := 0;
    begin
        for account in
            select c.* from credit_accounts c where c.resets_at <= app_now() order by c.resets_at limit p_limit for update skip locked
        loop
            perform credits_turn_period(account);
            turned := turned + 1;
        end loop;
        return turned;
    end $$;
`;
