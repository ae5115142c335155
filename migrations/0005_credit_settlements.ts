import type { Knex } from 'knex';

/** How holds end, and the mark that a worker sets before it sends: for a whole batch of operations in one statement. */
export async function up(knex: Knex): Promise<void> {
    for (const sql of [REFER, SETTLE, MARK]) await knex.raw(sql);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        drop function credits_mark_sent(text[], text);
        drop function credits_settle(text[], bigint[], integer, integer, integer);
        drop function credits_refer(credit_accounts, text, text, integer, integer, timestamptz);
    `);
}

/** Pinned, since the functions keep plans from the time when the tables were empty. */
const PLANNER =
    'set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan set jit = off';

/** The inviter's share of a first charged fetch, once per invited user; the caller has locked the account and writes it back. */
const REFER = `
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
`;

/**
 * Charges (an amount) and releases (null) of open holds; a hold that is settled already is left as it is. One answer per
 * operation that exists: `won` tells whether this call settled it, the rest is how it stands now. What is not charged goes
 * back where it came from, and lapses where that was the allowance of a period that has ended.
 */
const SETTLE = `
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
