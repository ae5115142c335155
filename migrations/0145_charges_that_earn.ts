import type { Knex } from 'knex';
import * as settlements from './0005_credit_settlements.ts';
import * as moves from './0030_credit_moves.ts';
import * as lockWaits from './0096_lock_waits.ts';
import * as loneMoves from './0097_lone_movements.ts';

/**
 * Charges look for the bonuses of 0144 where they looked for a user's first one. `credits_settle` is `credits_move` without holds from
 * here on, so that there is one rule. Otherwise as in 0030, 0096 and 0097.
 */
export async function up(knex: Knex): Promise<void> {
    for (const sql of [MOVE, SETTLE, SETTLE_ONE]) await knex.raw(sql);
    await knex.raw('drop function credits_refer(credit_accounts, text, text, integer, integer, timestamptz)');
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        drop function credits_move(
            text[], bigint[], integer, integer, integer,
            text[], text[], text[], text[], text[], text[], text[], bigint[], text[], bigint[], integer[], bigint[], integer[],
            text[], text[], bigint[], text[]
        );
        drop function credits_settle(text[], bigint[], integer, integer, integer);
        drop function credits_mark_sent(text[], text);
    `);
    await settlements.up(knex);
    await moves.up(knex);
    await loneMoves.down(knex);
    await loneMoves.up(knex);
    await lockWaits.up(knex);
}

/** Those of 0030, since the functions keep plans from the time when the tables were empty, and that of 0096. */
const SETTINGS =
    "set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan set jit = off set lock_timeout = '1s'";
/** Those of 0097. */
const SETTINGS_ONE = `set enable_seqscan = off set enable_hashjoin = off set plan_cache_mode = force_generic_plan set lock_timeout = '1s'`;

const MOVE = `
    create or replace function credits_move(
        p_operation text[], p_charge bigint[], p_first_fetch integer, p_referral integer, p_referrals_a_month integer,
        h_operation text[], h_account text[], h_user text[], h_workspace text[], h_key text[], h_site text[], h_endpoint text[],
        h_version bigint[], h_effect text[], h_unit bigint[], h_max_units integer[], h_lasts_ms bigint[], h_check integer[],
        c_site text[], c_registrable text[], c_version bigint[], c_stamp text[]
    ) returns table (operation text, is_hold boolean, won boolean, state text, marked boolean, charged bigint, first_fetch integer,
                     available bigint, is_stale boolean, amount bigint, units integer)
    language plpgsql ${SETTINGS} as $$
    #variable_conflict use_column
    declare
        moment timestamptz := app_now();
        account credit_accounts;
        earned record;
        place integer := 1;
        order_place integer := 1;
        first_order integer;
        -- Settlements that this call won, grouped by account.
        settled integer := 0;
        spent bigint;
        back bigint;
        operations text[] := '{}';
        accounts text[] := '{}';
        owners text[] := '{}';
        amounts bigint[] := '{}';
        allowances bigint[] := '{}';
        periods integer[] := '{}';
        charges bigint[] := '{}';
        marks boolean[] := '{}';
        releases boolean[] := '{}';
        lapses bigint[] := '{}';
        firsts integer[] := '{}';
        sites text[] := '{}';
        left_over bigint[] := '{}';
        -- Accounts that a charge of others earns something, and what has to be locked for it.
        homes text[] := '{}';
        locked text[] := '{}';
        -- Holds.
        orders integer := cardinality(h_operation);
        payable bigint;
        stale integer[] := '{}';
        granted integer[] := array_fill(0, array[cardinality(h_operation)]);
        held_amounts bigint[] := array_fill(0::bigint, array[cardinality(h_operation)]);
        held_allowance bigint[] := array_fill(0::bigint, array[cardinality(h_operation)]);
        held_periods integer[] := array_fill(0, array[cardinality(h_operation)]);
        held_left bigint[] := array_fill(0::bigint, array[cardinality(h_operation)]);
        -- Accounts as they are written back.
        changed_id text[] := '{}';
        changed_allowance bigint[] := '{}';
        changed_bonus bigint[] := '{}';
        changed_held bigint[] := '{}';
    begin
        if cardinality(p_operation) > 0 then
            with won as (
                update holds h
                    set state = case when s.charge is null then 'released' else 'charged' end,
                        charged = case when s.charge is not null then least(s.charge, h.amount) end,
                        settled_at = moment
                    from unnest(p_operation, p_charge) as s (operation, charge)
                    -- Not by state, which would let the planner walk all open holds for each of ours.
                    where h.operation = s.operation and h.settled_at is null
                    returning h.operation, h.account_id, h.user_id, h.site, h.amount, h.from_allowance, h.period_number, h.charged,
                              h.sent_at is not null as marked
            ), sorted as (select * from won order by account_id)
            select count(*), coalesce(array_agg(operation), '{}'), coalesce(array_agg(account_id), '{}'), array_agg(user_id),
                   array_agg(site), array_agg(amount), array_agg(from_allowance), array_agg(period_number), array_agg(coalesce(charged, 0)),
                   array_agg(marked), array_agg(charged is null)
                into settled, operations, accounts, owners, sites, amounts, allowances, periods, charges, marks, releases
                from sorted;
            lapses := array_fill(0::bigint, array[settled]);
            firsts := array_fill(0, array[settled]);
            left_over := array_fill(0::bigint, array[settled]);
        end if;

        if settled > 0 and (
            exists (
                select from users u
                where u.id = any (owners) and (u.first_charged_at is null or u.referral_from <= moment))
            or exists (
                select from unnest(sites, accounts) as s (site, account)
                join contributions_by_call f on f.site = s.site and f.account_id <> s.account)
        ) then
            select * into earned from credits_earned_by(
                operations, accounts, owners, sites, charges, p_first_fetch, p_referral, p_referrals_a_month, moment);
            firsts := earned.firsts;
            homes := earned.homes;
            locked := homes || earned.beneficiaries;
        end if;

        if cardinality(c_site) > 0 then
            stale := array(
                select c.place from unnest(c_site, c_registrable, c_version, c_stamp) with ordinality
                     as c (site, registrable, version, stamp, place)
                left join domains d on d.registrable = c.registrable
                left join sites s on s.site = c.site
                left join versions v on v.id = c.version
                where c.stamp is distinct from format('%s:%s:%s', d.xmin, s.xmin, v.xmin))::integer[];
        end if;

        for account in
            select c.* from credit_accounts c where c.id = any (accounts || locked || h_account) order by c.id for update
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
            for i in 1 .. cardinality(homes) loop
                if homes[i] = account.id then
                    account := credits_earn(
                        account, earned.kinds[i], earned.beneficiaries[i], earned.subjects[i], earned.credits[i], earned.a_month[i], moment);
                end if;
            end loop;

            -- Orders of an account that does not exist stay refused.
            while order_place <= orders and h_account[order_place] < account.id loop
                order_place := order_place + 1;
            end loop;
            first_order := order_place;
            while order_place <= orders and h_account[order_place] = account.id loop
                if not h_check[order_place] = any (stale) then
                    payable := least(h_max_units[order_place], (account.allowance_available + account.bonus_available) / h_unit[order_place]);
                    if payable > 0 then
                        granted[order_place] := payable;
                        held_amounts[order_place] := payable * h_unit[order_place];
                        held_allowance[order_place] := least(held_amounts[order_place], account.allowance_available);
                        held_periods[order_place] := account.period_number;
                        account.allowance_available := account.allowance_available - held_allowance[order_place];
                        account.bonus_available := account.bonus_available - (held_amounts[order_place] - held_allowance[order_place]);
                        account.held := account.held + held_amounts[order_place];
                    end if;
                end if;
                held_left[order_place] := account.allowance_available + account.bonus_available;
                order_place := order_place + 1;
            end loop;
            if account.id = any (h_account) and order_place = first_order then
                raise exception 'orders are not grouped by account in the order of ids';
            end if;

            changed_id := changed_id || account.id;
            changed_allowance := changed_allowance || account.allowance_available;
            changed_bonus := changed_bonus || account.bonus_available;
            changed_held := changed_held || account.held;
        end loop;
        if place <= settled then
            raise exception 'hold % has no account', operations[place];
        end if;

        if orders > 0 then
            insert into holds (operation, account_id, user_id, workspace_id, key_id, site, endpoint, version_id, effect,
                               amount, units, from_allowance, from_bonus, period_number, created_at, expires_at)
                select o.operation, o.account, o.owner, o.workspace, o.key, o.site, o.endpoint, o.version, o.effect,
                       o.amount, o.units, o.allowance, o.amount - o.allowance, o.period, moment, moment + o.lasts_ms * interval '1 millisecond'
                from unnest(h_operation, h_account, h_user, h_workspace, h_key, h_site, h_endpoint, h_version, h_effect,
                            held_amounts, granted, held_allowance, held_periods, h_lasts_ms)
                     as o (operation, account, owner, workspace, key, site, endpoint, version, effect, amount, units, allowance, period, lasts_ms)
                where o.amount > 0;
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
            where e.available_delta <> 0 or e.held_delta <> 0
            union all
            select o.account, o.operation, 'hold', -o.amount, o.amount, moment
            from unnest(h_account, h_operation, held_amounts) as o (account, operation, amount)
            where o.amount > 0;
        update credit_accounts c
            set allowance_available = n.allowance, bonus_available = n.bonus, held = n.held
            from unnest(changed_id, changed_allowance, changed_bonus, changed_held) as n (id, allowance, bonus, held)
            where c.id = n.id
              and (c.allowance_available <> n.allowance or c.bonus_available <> n.bonus or c.held <> n.held);

        return query
            select o.operation, false, true, case when o.released then 'released' else 'charged' end, o.marked, o.charge, o.first,
                   o.available, false, 0::bigint, 0
            from unnest(operations, releases, marks, charges, firsts, left_over) as o (operation, released, marked, charge, first, available)
            union all
            select o.operation, true, false, 'held', false, 0::bigint, 0, o.available, o.place = any (stale), o.amount, o.units
            from unnest(h_operation, held_amounts, granted, held_left, h_check) as o (operation, amount, units, available, place);

        if settled < cardinality(p_operation) then
            return query
                select h.operation::text, false, false, h.state, h.sent_at is not null, coalesce(h.charged, 0),
                       case when exists (select from users u where u.id = h.user_id and u.first_charged_operation = h.operation)
                            then p_first_fetch else 0 end,
                       c.allowance_available + c.bonus_available, false, 0::bigint, 0
                from unnest(p_operation) as asked (operation)
                join holds h on h.operation = asked.operation
                join credit_accounts c on c.id = h.account_id
                where h.operation <> all (operations);
        end if;
    end $$;
`;

const SETTLE = `
    create or replace function credits_settle(
        p_operation text[], p_charge bigint[], p_first_fetch integer, p_referral integer, p_referrals_a_month integer
    ) returns table (operation text, won boolean, state text, marked boolean, charged bigint, first_fetch integer, available bigint)
    language plpgsql set lock_timeout = '1s' as $$
    begin
        return query
            select m.operation, m.won, m.state, m.marked, m.charged, m.first_fetch, m.available
            from credits_move(
                p_operation, p_charge, p_first_fetch, p_referral, p_referrals_a_month,
                '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}') m;
    end $$;
`;

/** As in 0097; a charge that may earn something is not ordinary either. */
const SETTLE_ONE = `
    create or replace function credits_settle_one(
        p_operation text, p_charge bigint, p_first_fetch integer, p_referral integer, p_referrals_a_month integer
    ) returns table (operation text, won boolean, state text, marked boolean, charged bigint, first_fetch integer, available bigint)
    language plpgsql ${SETTINGS_ONE} as $$
    #variable_conflict use_column
    declare
        moment timestamptz := app_now();
    begin
        return query
            with hold as materialized (
                select h.account_id, h.amount, h.from_allowance, h.period_number, h.sent_at is not null as marked,
                       case when p_charge is null then 0 else least(p_charge, h.amount) end as cost
                from holds h
                where h.operation = p_operation and h.settled_at is null
                  and (p_charge is null or not (
                      exists (
                          select from users u
                          where u.id = h.user_id and (u.first_charged_at is null or u.referral_from <= moment))
                      or exists (select from contributions_by_call f where f.site = h.site and f.account_id <> h.account_id)))
                for update of h
            ), account as materialized (
                select c.id, c.allowance, c.allowance_available, c.bonus_available, c.held,
                       h.amount, h.marked, h.cost, h.from_allowance - least(h.cost, h.from_allowance) as back
                from hold h, credit_accounts c
                where c.id = h.account_id and c.period_number = h.period_number and c.resets_at > moment
                  and c.allowance - c.allowance_available >= h.from_allowance - least(h.cost, h.from_allowance)
                for update of c
            ), settled as (
                update holds h
                    set state = case when p_charge is null then 'released' else 'charged' end,
                        charged = case when p_charge is not null then a.cost end,
                        settled_at = moment
                    from account a
                    where h.operation = p_operation
            ), credited as (
                update credit_accounts c
                    set allowance = a.allowance,
                        allowance_available = a.allowance_available + a.back,
                        bonus_available = a.bonus_available + (a.amount - a.cost - a.back),
                        held = a.held - a.amount
                    from account a
                    where c.id = a.id
                    returning c.allowance_available + c.bonus_available as available
            ), entered as (
                insert into ledger_entries (account_id, operation, kind, available_delta, held_delta, at)
                    select a.id, p_operation, case when p_charge is null then 'release' else 'charge' end, a.amount - a.cost, -a.amount, moment
                    from account a
            )
            select p_operation, true, case when p_charge is null then 'released' else 'charged' end, a.marked, a.cost, 0, c.available
            from account a, credited c;
        if not found then
            return query
                select m.operation, m.won, m.state, m.marked, m.charged, m.first_fetch, m.available
                from credits_settle(array[p_operation], array[p_charge], p_first_fetch, p_referral, p_referrals_a_month) m;
        end if;
    end $$;
`;
