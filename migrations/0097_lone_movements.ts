import type { Knex } from 'knex';

/**
 * A movement that travels alone: what `credits_move` (0030) does for a batch of one, as one statement instead of a dozen, where the
 * ordinary rules suffice. Whatever is not ordinary (a month that ended, a first fetch, credits that do not reach, a site that changed)
 * is left to `credits_move` within the same call; nothing was written then.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(HOLD);
    await knex.raw(SETTLE);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        drop function credits_settle_one(text, bigint, integer, integer, integer);
        drop function credits_hold_one(text, text, text, text, text, text, text, bigint, text, bigint, integer, bigint, text, text);
    `);
}

/** Those of 0030 and 0096, but for merge joins and JIT, of which such small plans are never thought: each is set anew with every call. */
const SETTINGS = `set enable_seqscan = off set enable_hashjoin = off set plan_cache_mode = force_generic_plan set lock_timeout = '1s'`;

/**
 * One hold. Ordinary: the month goes on, the balance covers every unit that is wanted, and the site stands as `c_stamp` says (null: not
 * asked). What is written to the account comes from its locked row alone: PostgreSQL checks the constraints of a first draft, which
 * it makes of the row as it was when the statement began, before it notices that the row has changed since.
 */
const HOLD = `
    create function credits_hold_one(
        h_operation text, h_account text, h_user text, h_workspace text, h_key text, h_site text, h_endpoint text, h_version bigint,
        h_effect text, h_unit bigint, h_max_units integer, h_lasts_ms bigint, c_registrable text, c_stamp text
    ) returns table (operation text, available bigint, is_stale boolean, amount bigint, units integer)
    language plpgsql ${SETTINGS} as $$
    #variable_conflict use_column
    declare
        moment timestamptz := app_now();
        wanted bigint := h_unit * h_max_units;
    begin
        return query
            with account as materialized (
                select c.id, c.period_number, c.allowance, c.allowance_available, c.bonus_available, c.held,
                       least(wanted, c.allowance_available) as from_allowance
                from credit_accounts c
                where c.id = h_account and c.resets_at > moment
                  and c.allowance_available + c.bonus_available >= wanted
                  and (c_stamp is null or c_stamp = (
                      select format('%s:%s:%s', d.xmin, s.xmin, v.xmin)
                      from domains d, sites s, versions v
                      where d.registrable = c_registrable and s.site = h_site and v.id = h_version))
                for update of c
            ), debited as (
                update credit_accounts c
                    set allowance = a.allowance,
                        allowance_available = a.allowance_available - a.from_allowance,
                        bonus_available = a.bonus_available - (wanted - a.from_allowance),
                        held = a.held + wanted
                    from account a
                    where c.id = h_account
                    returning c.allowance_available + c.bonus_available as available
            ), held as (
                insert into holds (operation, account_id, user_id, workspace_id, key_id, site, endpoint, version_id, effect,
                                   amount, units, from_allowance, from_bonus, period_number, created_at, expires_at)
                    select h_operation, a.id, h_user, h_workspace, h_key, h_site, h_endpoint, h_version, h_effect,
                           wanted, h_max_units, a.from_allowance, wanted - a.from_allowance, a.period_number,
                           moment, moment + h_lasts_ms * interval '1 millisecond'
                    from account a
            ), entered as (
                insert into ledger_entries (account_id, operation, kind, available_delta, held_delta, at)
                    select a.id, h_operation, 'hold', -wanted, wanted, moment from account a
            )
            select h_operation, d.available, false, wanted, h_max_units from debited d;
        if not found then
            return query
                select m.operation, m.available, m.is_stale, m.amount, m.units
                from credits_move(
                    '{}', '{}', 0, 0, 0,
                    array[h_operation], array[h_account], array[h_user], array[h_workspace], array[h_key], array[h_site],
                    array[h_endpoint], array[h_version], array[h_effect], array[h_unit], array[h_max_units], array[h_lasts_ms],
                    array[case when c_stamp is null then 0 else 1 end],
                    case when c_stamp is null then '{}' else array[h_site] end,
                    case when c_stamp is null then '{}' else array[c_registrable] end,
                    case when c_stamp is null then '{}' else array[h_version] end,
                    case when c_stamp is null then '{}' else array[c_stamp] end) m;
        end if;
    end $$;
`;

/**
 * One charge, or a release (null). Ordinary: the hold is open, its month goes on, there is room for what it gives back to the allowance,
 * and no bonus hangs on it. Locks are taken in the order of 0030: the hold, then the account.
 */
const SETTLE = `
    create function credits_settle_one(
        p_operation text, p_charge bigint, p_first_fetch integer, p_referral integer, p_referrals_a_month integer
    ) returns table (operation text, won boolean, state text, marked boolean, charged bigint, first_fetch integer, available bigint)
    language plpgsql ${SETTINGS} as $$
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
                  and (p_charge is null or not exists (select from users u where u.id = h.user_id and u.first_charged_at is null))
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
