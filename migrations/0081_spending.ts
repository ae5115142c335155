import type { Knex } from 'knex';

/**
 * Caps that an account sets itself: credits that it, or one of its keys, may spend a day (UTC). Whoever has none is held as before, by
 * `credits_move` alone; for whoever has one `credits_hold_capped` looks at it in the same statement. What a capped day has spent
 * is kept in `day_spending`; what ended since is given back by the next hold, so that settlements know nothing of caps.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        alter table credit_accounts add column day_cap integer check (day_cap >= 0);
        alter table api_keys add column day_cap integer check (day_cap >= 0);
        alter table holds add column is_capped boolean not null default false;
        comment on column holds.is_capped is 'stands in day_spending with its whole amount; false again when what it did not spend was given back';
        create index holds_capped on holds (account_id) where is_capped;
        create table day_spending (
            subject text collate "C" primary key,
            day date not null,
            spent bigint not null check (spent >= 0)
        );
        comment on column day_spending.subject is 'an account or a key that has a cap';
        comment on column day_spending.spent is 'charged or still held of what was held that day';
    `);
    for (const sql of [SPENT, HOLD]) await knex.raw(sql);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        drop function credits_hold_capped(text, text, text, text, text, text, text, bigint, text, bigint, integer, bigint, text, text);
        drop function credits_spent_today(text, text, text, date);
        drop table day_spending;
        drop index holds_capped;
        alter table holds drop column is_capped;
        alter table api_keys drop column day_cap;
        alter table credit_accounts drop column day_cap;
    `);
}

/** The caller has locked the account. A day begins with nothing; a cap that was set in the middle of it counts what was there before. */
const SPENT = `
    create function credits_spent_today(p_subject text, p_account text, p_key text, p_today date) returns bigint language plpgsql as $$
    declare
        known day_spending;
        midnight timestamptz := p_today::timestamp at time zone 'UTC';
        before bigint;
    begin
        select d.* into known from day_spending d where d.subject = p_subject for update;
        if found and known.day = p_today then
            return known.spent;
        end if;
        before := 0;
        if not found then
            select coalesce(sum(h.amount - e.available_delta), 0) into before
                from ledger_entries e join holds h on h.operation = e.operation
                where e.account_id = p_account and e.kind = 'charge' and e.at >= midnight and h.created_at >= midnight
                  and (p_key is null or h.key_id = p_key);
            before := before + coalesce((
                select sum(h.amount) from holds h
                where h.state in ('held', 'sent') and h.account_id = p_account and h.created_at >= midnight
                  and (p_key is null or h.key_id = p_key)), 0);
            -- What they do not spend is given back too. One that is being settled now is left alone: whoever does it waits for us.
            update holds h set is_capped = true
                where h.operation in (
                    select o.operation from holds o
                    where o.state in ('held', 'sent') and o.account_id = p_account and o.created_at >= midnight
                      and (p_key is null or o.key_id = p_key) and not o.is_capped
                    for update skip locked);
        end if;
        insert into day_spending (subject, day, spent) values (p_subject, p_today, before)
            on conflict (subject) do update set day = excluded.day, spent = excluded.spent;
        return before;
    end $$;
`;

/** One order at a time: a cap is a brake. \`limited_by\` names the cap where it leaves no unit though the balance would. */
const HOLD = `
    create function credits_hold_capped(
        h_operation text, h_account text, h_user text, h_workspace text, h_key text, h_site text, h_endpoint text, h_version bigint,
        h_effect text, h_unit bigint, h_max_units integer, h_lasts_ms bigint, c_registrable text, c_stamp text
    ) returns table (operation text, amount bigint, units integer, available bigint, is_stale boolean,
                     limited_by text, cap bigint, spent bigint, resets_at timestamptz)
    language plpgsql as $$
    #variable_conflict use_column
    declare
        moment timestamptz := app_now();
        today date := (moment at time zone 'UTC')::date;
        account credit_accounts;
        ended record;
        limits record;
        held record;
        wanted bigint := h_max_units;
        refusal text;
        refusing_cap bigint;
        refusing_spent bigint;
    begin
        select c.* into account from credit_accounts c where c.id = h_account for update;
        if account.resets_at <= moment then
            account := credits_turn_period(account, moment);
        end if;
        for ended in
            update holds h set is_capped = false
                where h.account_id = h_account and h.is_capped and h.settled_at is not null
                returning h.key_id, h.amount - coalesce(h.charged, 0) as back, (h.created_at at time zone 'UTC')::date as day
        loop
            update day_spending d set spent = greatest(0, d.spent - ended.back)
                where d.subject in (h_account, ended.key_id) and d.day = ended.day;
        end loop;

        for limits in
            select c.kind, c.subject, c.cap, c.key_id,
                   credits_spent_today(c.subject, h_account, c.key_id, today) as spent
            from (values ('account', h_account, account.day_cap::bigint, null::text),
                         ('key', h_key, (select k.day_cap from api_keys k where k.id = h_key)::bigint, h_key)) as c (kind, subject, cap, key_id)
            where c.cap is not null
        loop
            if greatest(0, limits.cap - limits.spent) / h_unit < wanted then
                wanted := greatest(0, limits.cap - limits.spent) / h_unit;
                refusal := limits.kind;
                refusing_cap := limits.cap;
                refusing_spent := limits.spent;
            end if;
        end loop;

        -- Who has no credits learns that first, below.
        if wanted = 0 and account.allowance_available + account.bonus_available >= h_unit then
            return query select h_operation, 0::bigint, 0, account.allowance_available + account.bonus_available, false,
                                refusal, refusing_cap, refusing_spent, (today + 1)::timestamp at time zone 'UTC';
            return;
        end if;
        select m.amount, m.units, m.available, m.is_stale into held from credits_move(
            '{}', '{}', 0, 0, 0,
            array[h_operation], array[h_account], array[h_user], array[h_workspace], array[h_key], array[h_site], array[h_endpoint],
            array[h_version], array[h_effect], array[h_unit], array[wanted::integer], array[h_lasts_ms],
            array[case when c_stamp is null then 0 else 1 end],
            case when c_stamp is null then '{}' else array[h_site] end, case when c_stamp is null then '{}' else array[c_registrable] end,
            case when c_stamp is null then '{}' else array[h_version] end, case when c_stamp is null then '{}' else array[c_stamp] end
        ) m where m.is_hold;
        if held.amount > 0 then
            update holds h set is_capped = true where h.operation = h_operation;
            update day_spending d set spent = d.spent + held.amount where d.subject in (h_account, h_key) and d.day = today;
        end if;
        return query select h_operation, held.amount, held.units, held.available, held.is_stale,
                            null::text, null::bigint, null::bigint, null::timestamptz;
    end $$;
`;
