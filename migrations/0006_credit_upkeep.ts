import type { Knex } from 'knex';

/** Bonuses that no fetch triggers, and what has to happen without anybody asking. */
export async function up(knex: Knex): Promise<void> {
    for (const sql of [BONUSES, SWEEP]) await knex.raw(sql);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        drop function credits_turn_due(integer);
        drop function credits_sweep(integer);
        drop function credits_move_bonus(text, text);
        drop function credits_earn_contribution(text, text, integer, integer);
    `);
}

/** Pinned, since the functions keep plans from the time when the tables were empty. */
const PLANNER =
    'set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan set jit = off';

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
