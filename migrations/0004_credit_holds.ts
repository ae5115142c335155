import type { Knex } from 'knex';

/**
 * Holds for a whole batch of calls: arrays in, a verdict per element out. A batch is one statement, hence one commit; an account
 * that cannot pay is a verdict and not an error, so that it fails alone.
 *
 * Everybody takes locks in one order: holds (by operation), users, credit_accounts (by id).
 */
export async function up(knex: Knex): Promise<void> {
    for (const sql of [PERIODS, HOLD]) await knex.raw(sql);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        drop function credits_hold(text[], text[], text[], text[], text[], text[], text[], bigint[], text[], bigint[], integer[], bigint[]);
        drop function credits_turn_period(credit_accounts, timestamptz);
        drop function credit_month_of(timestamptz);
        drop function credit_period_end(timestamptz, integer);
    `);
}

/** Pinned, since the functions keep plans from the time when the tables were empty. */
const PLANNER =
    'set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan set jit = off';

/** Months are counted from the anchor in UTC, so that the 31st falls back to a short month's last day and comes back after it. */
const PERIODS = `
    create function credit_period_end(anchor timestamptz, months integer) returns timestamptz language sql immutable
        as $$ select (anchor at time zone 'UTC' + make_interval(months => months)) at time zone 'UTC' $$;

    create function credit_month_of(moment timestamptz) returns timestamptz language sql immutable
        as $$ select date_trunc('month', moment at time zone 'UTC') at time zone 'UTC' $$;

    -- The caller has locked the row and found that its period ended. Months that nobody saw are skipped: one expiry, one grant.
    create function credits_turn_period(account credit_accounts, moment timestamptz) returns credit_accounts language plpgsql as $$
    declare
        ended integer := account.period_number;
        months integer := account.period_number - account.anchored_period + 1;
    begin
        while credit_period_end(account.anchored_at, months) <= moment loop
            months := months + 1;
        end loop;
        account.period_number := account.anchored_period + months - 1;
        if account.allowance_available > 0 then
            insert into ledger_entries (account_id, kind, available_delta, held_delta, note, at)
                values (account.id, 'expire', -account.allowance_available, 0, 'period ' || ended, moment);
        end if;
        if account.allowance > 0 then
            insert into ledger_entries (account_id, kind, available_delta, held_delta, note, at)
                values (account.id, 'grant', account.allowance, 0, 'period ' || account.period_number, moment);
        end if;
        update credit_accounts c
            set period_number = account.period_number,
                period_start = credit_period_end(c.anchored_at, months - 1),
                resets_at = credit_period_end(c.anchored_at, months),
                allowance_available = c.allowance
            where c.id = account.id
            returning c.* into account;
        return account;
    end $$;
`;

/** Orders come grouped by account, in the order of account ids. A verdict of 0 units is a refusal. */
const HOLD = `
    create function credits_hold(
        p_operation text[], p_account text[], p_user text[], p_workspace text[], p_key text[], p_site text[], p_endpoint text[],
        p_version bigint[], p_effect text[], p_unit bigint[], p_max_units integer[], p_lasts_ms bigint[]
    ) returns table (operation text, amount bigint, units integer, available bigint) language plpgsql ${PLANNER} as $$
    #variable_conflict use_column
    declare
        moment timestamptz := app_now();
        orders integer := cardinality(p_operation);
        place integer := 1;
        first integer;
        payable bigint;
        account credit_accounts;
        granted integer[] := array_fill(0, array[orders]);
        amounts bigint[] := array_fill(0::bigint, array[orders]);
        from_allowance bigint[] := array_fill(0::bigint, array[orders]);
        periods integer[] := array_fill(0, array[orders]);
        left_over bigint[] := array_fill(0::bigint, array[orders]);
        changed_id text[] := '{}';
        changed_allowance bigint[] := '{}';
        changed_bonus bigint[] := '{}';
        changed_held bigint[] := '{}';
    begin
        for account in select c.* from credit_accounts c where c.id = any (p_account) order by c.id for update loop
            if account.resets_at <= moment then
                account := credits_turn_period(account, moment);
            end if;
            -- Orders of an account that does not exist stay refused.
            while place <= orders and p_account[place] < account.id loop
                place := place + 1;
            end loop;
            first := place;
            while place <= orders and p_account[place] = account.id loop
                payable := least(p_max_units[place], (account.allowance_available + account.bonus_available) / p_unit[place]);
                if payable > 0 then
                    granted[place] := payable;
                    amounts[place] := payable * p_unit[place];
                    from_allowance[place] := least(amounts[place], account.allowance_available);
                    periods[place] := account.period_number;
                    account.allowance_available := account.allowance_available - from_allowance[place];
                    account.bonus_available := account.bonus_available - (amounts[place] - from_allowance[place]);
                    account.held := account.held + amounts[place];
                end if;
                left_over[place] := account.allowance_available + account.bonus_available;
                place := place + 1;
            end loop;
            if place = first then
                raise exception 'orders are not grouped by account in the order of ids';
            end if;
            changed_id := changed_id || account.id;
            changed_allowance := changed_allowance || account.allowance_available;
            changed_bonus := changed_bonus || account.bonus_available;
            changed_held := changed_held || account.held;
        end loop;

        insert into holds (operation, account_id, user_id, workspace_id, key_id, site, endpoint, version_id, effect,
                           amount, units, from_allowance, from_bonus, period_number, created_at, expires_at)
            select o.operation, o.account, o.owner, o.workspace, o.key, o.site, o.endpoint, o.version, o.effect,
                   o.amount, o.units, o.allowance, o.amount - o.allowance, o.period, moment, moment + o.lasts_ms * interval '1 millisecond'
            from unnest(p_operation, p_account, p_user, p_workspace, p_key, p_site, p_endpoint, p_version, p_effect,
                        amounts, granted, from_allowance, periods, p_lasts_ms)
                 as o (operation, account, owner, workspace, key, site, endpoint, version, effect, amount, units, allowance, period, lasts_ms)
            where o.amount > 0;
        insert into ledger_entries (account_id, operation, kind, available_delta, held_delta, at)
            select o.account, o.operation, 'hold', -o.amount, o.amount, moment
            from unnest(p_account, p_operation, amounts) as o (account, operation, amount)
            where o.amount > 0;
        update credit_accounts c
            set allowance_available = n.allowance, bonus_available = n.bonus, held = n.held
            from unnest(changed_id, changed_allowance, changed_bonus, changed_held) as n (id, allowance, bonus, held)
            where c.id = n.id and c.held <> n.held;
        return query select * from unnest(p_operation, amounts, granted, left_over);
    end $$;
`;
