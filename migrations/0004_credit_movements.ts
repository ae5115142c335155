import type { Knex } from 'knex';

/**
 * The movements of credits, each for a whole batch of calls: arrays in, a verdict per element out. A batch is one statement,
 * hence one commit; an account that cannot pay is a verdict and not an error, so that it fails alone.
 *
 * Locks are taken in one order by everybody: holds (by operation), users, credit_accounts (by id). Planner settings are pinned,
 * since plans are cached from the time when the tables were empty.
 */
const PLANNER =
    'set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan set jit = off';

export async function up(knex: Knex): Promise<void> {
    for (const sql of [PERIODS, HOLD, SETTLE, MARK, BONUSES, SWEEP]) await knex.raw(sql);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        drop function credits_sweep(integer);
        drop function credits_turn_due(integer);
        drop function credits_move_bonus(text, text);
        drop function credits_earn_contribution(text, text, integer, integer);
        drop function credits_mark_sent(text[], text);
        drop function credits_settle(text[], bigint[], integer, integer, integer);
        drop function credits_refer(credit_accounts, text, text, integer, integer, timestamptz);
        drop function credits_hold(text[], text[], text[], text[], text[], text[], text[], bigint[], text[], bigint[], integer[], bigint[]);
        drop function credits_turn_period(credit_accounts, timestamptz);
        drop function credit_month_of(timestamptz);
        drop function credit_period_end(timestamptz, integer);
    `);
}

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

/**
 * Charges (an amount) and releases (null) of open holds; a hold that is settled already is left as it is. One answer per
 * operation that exists: `won` tells whether this call settled it, the rest is how it stands now. What is not charged goes
 * back where it came from, and lapses where that was the allowance of a period that has ended.
 */
const SETTLE = `
    create function credits_refer(
        account credit_accounts, p_inviter text, p_invited text, p_credits integer, p_a_month integer, moment timestamptz
    ) returns credit_accounts language plpgsql as $$
    declare
        earlier integer;
        credits integer;
    begin
        select count(*) into earlier from earned_bonuses e
            where e.kind = 'referral' and e.beneficiary = p_inviter and e.credits > 0 and e.at >= credit_month_of(moment);
        credits := case when earlier < p_a_month then p_credits else 0 end;
        insert into earned_bonuses (kind, subject, beneficiary, credits, at)
            values ('referral', p_invited, p_inviter, credits, moment) on conflict do nothing;
        if found and credits > 0 then
            insert into ledger_entries (account_id, kind, available_delta, held_delta, note, at)
                values (account.id, 'referral', credits, 0, p_invited, moment);
            account.bonus_available := account.bonus_available + credits;
        end if;
        return account;
    end $$;

    create function credits_settle(
        p_operation text[], p_charge bigint[], p_first_fetch integer, p_referral integer, p_referrals_a_month integer
    ) returns table (operation text, won boolean, state text, marked boolean, charged bigint, first_fetch integer, available bigint)
    language plpgsql ${PLANNER} as $$
    #variable_conflict use_column
    declare
        moment timestamptz := app_now();
        settled integer;
        place integer := 1;
        spent bigint;
        back bigint;
        account credit_accounts;
        person record;
        operations text[];
        accounts text[];
        owners text[];
        amounts bigint[];
        allowances bigint[];
        periods integer[];
        charges bigint[];
        marks boolean[];
        releases boolean[];
        lapses bigint[];
        firsts integer[];
        left_over bigint[];
        bonus_place integer;
        inviter_homes text[] := '{}';
        inviters text[] := '{}';
        invited text[] := '{}';
        changed_id text[] := '{}';
        changed_allowance bigint[] := '{}';
        changed_bonus bigint[] := '{}';
        changed_held bigint[] := '{}';
    begin
        with won as (
            update holds h
                set state = case when s.charge is null then 'released' else 'charged' end,
                    charged = case when s.charge is not null then least(s.charge, h.amount) end,
                    settled_at = moment
                from unnest(p_operation, p_charge) as s (operation, charge)
                -- Not by state, which would let the planner walk all open holds for each of ours.
                where h.operation = s.operation and h.settled_at is null
                returning h.operation, h.account_id, h.user_id, h.amount, h.from_allowance, h.period_number, h.charged,
                          h.sent_at is not null as marked
        ), sorted as (select * from won order by account_id)
        select count(*), array_agg(operation), array_agg(account_id), array_agg(user_id), array_agg(amount),
               array_agg(from_allowance), array_agg(period_number), array_agg(coalesce(charged, 0)), array_agg(marked),
               array_agg(charged is null)
            into settled, operations, accounts, owners, amounts, allowances, periods, charges, marks, releases
            from sorted;

        if settled > 0 then
            lapses := array_fill(0::bigint, array[settled]);
            firsts := array_fill(0, array[settled]);
            left_over := array_fill(0::bigint, array[settled]);

            for person in
                select u.id, u.invited_by from users u
                where u.id = any (array(select o.owner from unnest(owners, charges) as o (owner, charge) where o.charge > 0))
                  and u.first_charged_at is null
                order by u.id for update
            loop
                select min(o.place) into bonus_place
                    from unnest(owners, charges) with ordinality as o (owner, charge, place)
                    where o.owner = person.id and o.charge > 0;
                firsts[bonus_place] := p_first_fetch;
                update users u set first_charged_at = moment, first_charged_operation = operations[bonus_place] where u.id = person.id;
                if person.invited_by is not null then
                    inviter_homes := inviter_homes || array(
                        select coalesce(c.moved_to, c.id)::text from credit_accounts c where c.id = person.invited_by);
                    if cardinality(inviter_homes) > cardinality(inviters) then
                        inviters := inviters || person.invited_by::text;
                        invited := invited || person.id::text;
                    end if;
                end if;
            end loop;

            for account in
                select c.* from credit_accounts c where c.id = any (accounts || inviter_homes) order by c.id for update
            loop
                if account.resets_at <= moment then
                    account := credits_turn_period(account, moment);
                end if;
                while place <= settled and accounts[place] = account.id loop
                    spent := least(charges[place], allowances[place]);
                    back := 0;
                    if periods[place] = account.period_number then
                        back := least(allowances[place] - spent, account.allowance - account.allowance_available);
                    end if;
                    lapses[place] := allowances[place] - spent - back;
                    account.allowance_available := account.allowance_available + back;
                    account.bonus_available := account.bonus_available + firsts[place]
                        + (amounts[place] - allowances[place]) - (charges[place] - spent);
                    account.held := account.held - amounts[place];
                    left_over[place] := account.allowance_available + account.bonus_available;
                    place := place + 1;
                end loop;
                for i in 1 .. cardinality(inviter_homes) loop
                    if inviter_homes[i] = account.id then
                        account := credits_refer(account, inviters[i], invited[i], p_referral, p_referrals_a_month, moment);
                    end if;
                end loop;
                changed_id := changed_id || account.id;
                changed_allowance := changed_allowance || account.allowance_available;
                changed_bonus := changed_bonus || account.bonus_available;
                changed_held := changed_held || account.held;
            end loop;
            if place <= settled then
                raise exception 'hold % has no account', operations[place];
            end if;

            insert into ledger_entries (account_id, operation, kind, available_delta, held_delta, at)
                select o.account, o.operation, e.kind, e.available_delta, e.held_delta, moment
                from unnest(accounts, operations, amounts, charges, releases, lapses, firsts)
                     as o (account, operation, amount, charge, released, lapsed, first)
                cross join lateral (values
                    (case when o.released then 'release' else 'charge' end, o.amount - o.charge, -o.amount),
                    ('lapse', -o.lapsed, 0),
                    ('first_fetch', o.first, 0)
                ) as e (kind, available_delta, held_delta)
                where e.available_delta <> 0 or e.held_delta <> 0;
            update credit_accounts c
                set allowance_available = n.allowance, bonus_available = n.bonus, held = n.held
                from unnest(changed_id, changed_allowance, changed_bonus, changed_held) as n (id, allowance, bonus, held)
                where c.id = n.id;
            return query
                select o.operation, true, case when o.released then 'released' else 'charged' end, o.marked, o.charge, o.first, o.available
                from unnest(operations, releases, marks, charges, firsts, left_over) as o (operation, released, marked, charge, first, available);
        end if;

        if settled < cardinality(p_operation) then
            return query
                select h.operation::text, false, h.state, h.sent_at is not null, coalesce(h.charged, 0),
                       case when exists (select from users u where u.id = h.user_id and u.first_charged_operation = h.operation)
                            then p_first_fetch else 0 end,
                       c.allowance_available + c.bonus_available
                from unnest(p_operation) as asked (operation)
                join holds h on h.operation = asked.operation
                join credit_accounts c on c.id = h.account_id
                where settled = 0 or h.operation <> all (operations);
        end if;
    end $$;
`;

/** `held → sent`, once. `p_by` names the marking process, which so recognises its own mark after a lost answer. */
const MARK = `
    create function credits_mark_sent(p_operation text[], p_by text) returns table (operation text)
    language plpgsql ${PLANNER} as $$
    #variable_conflict use_column
    begin
        perform from holds h where h.operation = any (p_operation) order by h.operation for update;
        return query
            update holds h set state = 'sent', sent_at = app_now(), sent_by = p_by
            where h.operation = any (p_operation) and h.state = 'held'
            returning h.operation::text;
    end $$;
`;

const BONUSES = `
    -- Credits earned: p_credits, or 0 where somebody contributed to this domain before or the month's share is used up.
    create function credits_earn_contribution(p_account text, p_domain text, p_credits integer, p_a_month integer)
    returns integer language plpgsql as $$
    declare
        moment timestamptz := app_now();
        earlier integer;
        earned integer;
    begin
        perform from credit_accounts c where c.id = p_account for update;
        if not found then
            raise exception 'no such account: %', p_account using errcode = 'no_data_found';
        end if;
        select count(*) into earlier from earned_bonuses e
            where e.kind = 'contribution' and e.beneficiary = p_account and e.credits > 0 and e.at >= credit_month_of(moment);
        earned := case when earlier < p_a_month then p_credits else 0 end;
        insert into earned_bonuses (kind, subject, beneficiary, credits, at)
            values ('contribution', p_domain, p_account, earned, moment) on conflict do nothing;
        if not found or earned = 0 then
            return 0;
        end if;
        update credit_accounts c set bonus_available = c.bonus_available + earned where c.id = p_account;
        insert into ledger_entries (account_id, kind, available_delta, held_delta, note, at)
            values (p_account, 'contribution', earned, 0, p_domain, moment);
        return earned;
    end $$;

    -- Everything that p_from has in bonus; returns how much it was.
    create function credits_move_bonus(p_from text, p_to text) returns bigint language plpgsql as $$
    declare
        moved bigint;
    begin
        perform from credit_accounts c where c.id in (p_from, p_to) order by c.id for update;
        select c.bonus_available into moved from credit_accounts c where c.id = p_from and c.bonus_available > 0;
        if not found then
            return 0;
        end if;
        update credit_accounts c set bonus_available = c.bonus_available + case c.id when p_to then moved else -moved end
            where c.id in (p_from, p_to);
        insert into ledger_entries (account_id, kind, available_delta, held_delta, note, at)
            values (p_from, 'move', -moved, 0, 'to ' || p_to, app_now()), (p_to, 'move', moved, 0, 'from ' || p_from, app_now());
        return moved;
    end $$;
`;

/** What nobody asked for in time; rows that somebody else is working on are left to them. */
const SWEEP = `
    create function credits_sweep(p_limit integer) returns integer language plpgsql ${PLANNER} as $$
    declare
        forgotten text[];
    begin
        forgotten := array(
            select h.operation from holds h
            where h.state in ('held', 'sent') and h.expires_at <= app_now()
            order by h.expires_at limit p_limit for update skip locked);
        if cardinality(forgotten) > 0 then
            perform from credits_settle(forgotten, array_fill(null::bigint, array[cardinality(forgotten)]), 0, 0, 0);
        end if;
        return cardinality(forgotten);
    end $$;

    create function credits_turn_due(p_limit integer) returns integer language plpgsql ${PLANNER} as $$
    declare
        account credit_accounts;
        turned integer := 0;
    begin
        for account in
            select c.* from credit_accounts c where c.resets_at <= app_now() order by c.resets_at limit p_limit for update skip locked
        loop
            perform credits_turn_period(account, app_now());
            turned := turned + 1;
        end loop;
        return turned;
    end $$;
`;
