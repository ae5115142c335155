import type { Knex } from 'knex';
import * as upkeep from './0006_credit_upkeep.ts';

/**
 * Bonuses that wait for more than one event. An invitation pays when the invited user is charged on a second UTC day. A contribution that
 * is owed pays when a verification run passed or, where a package has nothing to verify, when another account is charged for a call of
 * it. An operator can take the bonus of a blocked domain back, once.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        alter table users
            add referral_from timestamptz,
            add earns_inviter boolean not null default true;
        comment on column users.referral_from is 'a charge from then on pays the inviter; null: none does';
        comment on column users.earns_inviter is 'false: too many signed up from the same range of addresses or mail domain on that day';
        -- Every charge asks whether it earns something: almost always this index knows nothing of the user.
        create index users_awaiting_bonus on users (id) where first_charged_at is null or referral_from is not null;
        drop index users_uncharged;

        alter table owed_contributions
            add published_by text collate "C",
            add credits integer not null default 50 check (credits > 0),
            add a_month integer not null default 10 check (a_month > 0);
        comment on column owed_contributions.published_by is 'the user, whose own calls are nobody else''s';
        create table contributions_by_call (
            site text collate "C" primary key references sites,
            registrable text collate "C" not null references owed_contributions on delete cascade,
            account_id text collate "C" not null
        );
        comment on table contributions_by_call is 'sites of owed contributions whose latest package has nothing to verify';
        create index contributions_by_call_of_domain on contributions_by_call (registrable);

        alter table earned_bonuses add reclaimed integer check (reclaimed between 0 and credits);
        comment on column earned_bonuses.reclaimed is 'credits that an operator took back, at most what was left; null: nobody tried';
        -- Rows that are there keep the narrower rule: nothing of a large ledger is read again.
        alter table ledger_entries
            drop constraint ledger_entries_kind_check,
            add constraint ledger_entries_kind_check
                check (kind in ('grant', 'expire', 'lapse', 'hold', 'charge', 'release',
                                'first_fetch', 'referral', 'contribution', 'reclaim', 'bonus', 'move')) not valid;
    `);
    for (const sql of [EARN, CONTRIBUTE, EARNED, RECLAIM]) await knex.raw(sql);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        drop function credits_reclaim(text);
        drop function credits_earned_by(text[], text[], text[], text[], bigint[], integer, integer, integer, timestamptz);
        drop function credits_lock_home(text);
        drop function credits_earn(credit_accounts, text, text, text, integer, integer, timestamptz);
    `);
    await upkeep.down(knex);
    await upkeep.up(knex);
    await knex.raw(`
        alter table ledger_entries
            drop constraint ledger_entries_kind_check,
            add constraint ledger_entries_kind_check
                check (kind in ('grant', 'expire', 'lapse', 'hold', 'charge', 'release',
                                'first_fetch', 'referral', 'contribution', 'bonus', 'move')) not valid;
        alter table earned_bonuses drop reclaimed;
        drop table contributions_by_call;
        alter table owed_contributions drop a_month, drop credits, drop published_by;
        create index users_uncharged on users (id) where first_charged_at is null;
        drop index users_awaiting_bonus;
        alter table users drop earns_inviter, drop referral_from;
    `);
}

const EARN = `
    -- One bonus, once for its subject, and 0 credits where the month's share is used up. The caller has locked \`account\`, and the
    -- beneficiary's own, and writes \`account\` back.
    create function credits_earn(
        account credit_accounts, p_kind text, p_beneficiary text, p_subject text, p_credits integer, p_a_month integer, moment timestamptz
    ) returns credit_accounts language plpgsql as $$
    declare
        earlier integer;
        earned integer;
    begin
        select count(*) into earlier from earned_bonuses e
            where e.kind = p_kind and e.beneficiary = p_beneficiary and e.credits > 0 and e.at >= credit_month_of(moment);
        earned := case when earlier < p_a_month then p_credits else 0 end;
        insert into earned_bonuses (kind, subject, beneficiary, credits, at)
            values (p_kind, p_subject, p_beneficiary, earned, moment) on conflict do nothing;
        if found and earned > 0 then
            insert into ledger_entries (account_id, kind, available_delta, held_delta, note, at)
                values (account.id, p_kind, earned, 0, p_subject, moment);
            account.bonus_available := account.bonus_available + earned;
        end if;
        return account;
    end $$;

    -- Where the bonus of an account is spent now, both locked; null where there is no such account. A plan that changes meanwhile
    -- is looked at again.
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
`;

const CONTRIBUTE = `
    -- Credits earned: p_credits, or 0 where somebody contributed to this domain before or the month's share is used up.
    create or replace function credits_earn_contribution(p_account text, p_domain text, p_credits integer, p_a_month integer)
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
        after := credits_earn(before, 'contribution', p_account, p_domain, p_credits, p_a_month, app_now());
        update credit_accounts c set bonus_available = after.bonus_available
            where c.id = home and after.bonus_available <> before.bonus_available;
        return after.bonus_available - before.bonus_available;
    end $$;
`;

/**
 * What charges earn beside what they cost: \`firsts\` by their place, and for others as many rows as there are \`homes\`. Called by
 * \`credits_move\` once something may be earned; its users and owed contributions are locked from here on, before any account.
 */
const EARNED = `
    create function credits_earned_by(
        p_operation text[], p_account text[], p_user text[], p_site text[], p_charge bigint[],
        p_first_fetch integer, p_referral integer, p_referrals_a_month integer, moment timestamptz,
        out firsts integer[], out homes text[], out kinds text[], out beneficiaries text[], out subjects text[],
        out credits integer[], out a_month integer[]
    ) language plpgsql as $$
    declare
        person record;
        debt record;
        home text;
        place integer;
    begin
        firsts := array_fill(0, array[cardinality(p_operation)]);
        homes := '{}'; kinds := '{}'; beneficiaries := '{}'; subjects := '{}'; credits := '{}'; a_month := '{}';
        for person in
            select u.id, u.invited_by, u.earns_inviter, u.first_charged_at from users u
            where u.id = any (array(select o.owner from unnest(p_user, p_charge) as o (owner, charge) where o.charge > 0))
              and (u.first_charged_at is null or u.referral_from <= moment)
            order by u.id for update
        loop
            if person.first_charged_at is null then
                select min(o.place) into place
                    from unnest(p_user, p_charge) with ordinality as o (owner, charge, place)
                    where o.owner = person.id and o.charge > 0;
                firsts[place] := p_first_fetch;
                update users u
                    set first_charged_at = moment, first_charged_operation = p_operation[place],
                        referral_from = case when person.invited_by is not null and person.earns_inviter
                            then (date_trunc('day', moment at time zone 'UTC') + interval '1 day') at time zone 'UTC' end
                    where u.id = person.id;
            else
                update users u set referral_from = null where u.id = person.id;
                select coalesce(c.moved_to, c.id) into home from credit_accounts c where c.id = person.invited_by;
                if found then
                    homes := homes || home; kinds := kinds || 'referral'::text;
                    beneficiaries := beneficiaries || person.invited_by; subjects := subjects || person.id;
                    credits := credits || p_referral; a_month := a_month || p_referrals_a_month;
                end if;
            end if;
        end loop;

        for debt in
            select o.registrable, o.account_id, o.credits, o.a_month, coalesce(c.moved_to, c.id) as home
            from owed_contributions o join credit_accounts c on c.id = o.account_id
            where o.registrable = any (array(
                    select f.registrable from unnest(p_site) as s (site) join contributions_by_call f on f.site = s.site))
              and exists (
                    select from unnest(p_account, p_user, p_site, p_charge) as s (account, owner, site, charge)
                    join contributions_by_call f on f.site = s.site and f.registrable = o.registrable
                    where s.charge > 0 and s.account not in (c.id, coalesce(c.moved_to, c.id))
                      and s.owner <> o.account_id and s.owner is distinct from o.published_by)
            order by o.registrable for update of o
        loop
            delete from owed_contributions o where o.registrable = debt.registrable;
            homes := homes || debt.home; kinds := kinds || 'contribution'::text;
            beneficiaries := beneficiaries || debt.account_id; subjects := subjects || debt.registrable;
            credits := credits || debt.credits; a_month := a_month || debt.a_month;
        end loop;
    end $$;
`;

const RECLAIM = `
    -- Takes back what a domain's schema earned, once, at most what is left of the bonus; what is owed for it is never paid. The caller
    -- has locked the domain. Credits taken.
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
        if back > 0 then
            update credit_accounts c set bonus_available = c.bonus_available - back where c.id = home;
            insert into ledger_entries (account_id, kind, available_delta, held_delta, note, at)
                values (home, 'reclaim', -back, 0, p_domain, app_now());
        end if;
        return back;
    end $$;
`;
