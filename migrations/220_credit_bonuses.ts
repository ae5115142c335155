import type { Knex } from 'knex';

export { down } from './100_common_functions.ts';

/** Bonus credits, which never expire: how they are earned, moved to another account, and taken back. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(FUNCTIONS);
}

const FUNCTIONS = `
    create function credit_month_of(moment timestamptz) returns timestamptz language sql immutable
        as $$ select date_trunc('month', moment at time zone 'UTC') at time zone 'UTC' $$;

    -- Pays one bonus, once per subject; 0 credits if the limit of the month is reached. The caller has locked the account and the
    -- beneficiary's own account, and writes the account back.
    create function credits_earn(
        account credit_accounts, p_kind text, p_beneficiary text, p_subject text, p_credits integer, p_a_month integer
    ) returns credit_accounts language plpgsql as $$
    declare
        earlier integer;
        earned integer;
    begin
        select count(*) into earlier from earned_bonuses e
            where e.kind = p_kind and e.beneficiary = p_beneficiary and e.credits > 0 and e.at >= credit_month_of(app_now());
        earned := case when earlier < p_a_month then p_credits else 0 end;
        insert into earned_bonuses (kind, subject, beneficiary, credits, at)
            values (p_kind, p_subject, p_beneficiary, earned, app_now()) on conflict do nothing;
        if found then
            perform credits_enter(account.id, p_kind, earned, p_subject);
            account.bonus_available := account.bonus_available + earned;
        end if;
        return account;
    end $$;

    -- Locks an account and the account that now spends its bonus. Returns the id of the latter; null if the account does not exist. Tries
    -- again if that relation changes meanwhile.
    create function credits_lock_home(p_account text) returns text language plpgsql as $$
    declare
        home text;
    begin
        loop
            select coalesce(c.moved_to, c.id) into home from credit_accounts c where c.id = p_account;
            perform from credit_accounts c where c.id in (p_account, home) order by c.id for update;
            if home is not distinct from (select coalesce(c.moved_to, c.id) from credit_accounts c where c.id = p_account) then
                return home;
            end if;
        end loop;
    end $$;

    -- Returns the credits earned: p_credits, or 0 if somebody contributed to this domain before or the limit of the month is reached.
    create function credits_earn_contribution(p_account text, p_domain text, p_credits integer, p_a_month integer)
    returns integer language plpgsql as $$
    declare
        home text := credits_lock_home(p_account);
        before credit_accounts;
        after credit_accounts;
    begin
        select c.* into before from credit_accounts c where c.id = home;
        if not found then
            raise exception 'no such account: %', p_account using errcode = 'no_data_found';
        end if;
        after := credits_earn(before, 'contribution', p_account, p_domain, p_credits, p_a_month);
        update credit_accounts c set bonus_available = after.bonus_available
            where c.id = home and after.bonus_available <> before.bonus_available;
        return after.bonus_available - before.bonus_available;
    end $$;

    -- Takes back the bonus that a domain's schema earned, once, at most the remaining bonus. Owed bonuses of the domain are never paid. The
    -- caller has locked the domain. Returns the credits taken.
    create function credits_reclaim(p_domain text) returns integer language plpgsql as $$
    declare
        earned earned_bonuses;
        home text;
        back integer;
    begin
        with unpaid as (delete from owed_contributions o where o.registrable = p_domain returning o.account_id)
            insert into earned_bonuses (kind, subject, beneficiary, credits, at, reclaimed)
            select 'contribution', p_domain, u.account_id, 0, app_now(), 0 from unpaid u on conflict do nothing;
        select e.* into earned from earned_bonuses e
            where e.kind = 'contribution' and e.subject = p_domain and e.reclaimed is null for update;
        if not found then
            return 0;
        end if;
        home := credits_lock_home(earned.beneficiary);
        select least(earned.credits, c.bonus_available) into back from credit_accounts c where c.id = home;
        update earned_bonuses e set reclaimed = back where e.kind = 'contribution' and e.subject = p_domain;
        update credit_accounts c set bonus_available = c.bonus_available - back where c.id = home and back > 0;
        perform credits_enter(home, 'reclaim', -back, p_domain);
        return back;
    end $$;

    -- Moves the whole bonus of p_from to p_to. Returns its amount.
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
        perform credits_enter(p_from, 'move', -moved, 'to ' || p_to);
        perform credits_enter(p_to, 'move', moved, 'from ' || p_from);
        return moved;
    end $$;
`;
