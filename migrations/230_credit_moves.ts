import type { Knex } from 'knex';

export { down } from './100_common_functions.ts';

/** How credits move with calls: `credits_move` begins and ends holds, one or hundreds in one statement and one commit. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(TYPES);
    await knex.raw(FUNCTIONS);
}

const TYPES = `
    -- A hold that begins: the order, and the decision.
    create type credit_order as (
        operation text collate "C", account_id text collate "C", user_id text collate "C", workspace_id text collate "C",
        key_id text collate "C", site text, endpoint text, version_id bigint, effect text,
        unit bigint, lasts_ms bigint, is_capped boolean, is_stale boolean,
        units integer, amount bigint, from_allowance bigint, period_number integer, available bigint,
        limited_by text, cap bigint, spent bigint,
        batch_id text, items integer
    );

    -- A hold that ends: its earlier state, and the result.
    create type credit_settlement as (
        operation text collate "C", account_id text collate "C", user_id text collate "C", site text,
        amount bigint, from_allowance bigint, period_number integer, is_sent boolean, is_release boolean, charged bigint,
        lapsed bigint, first_fetch integer, available bigint,
        movement text, batch_id text, items integer
    );

    -- A bonus for somebody other than the charged account. It is paid to the account \`home\`.
    create type credit_bonus as (
        home text collate "C", kind text, beneficiary text collate "C", subject text collate "C", credits integer, a_month integer
    );
`;

const FUNCTIONS = `
    -- Returns what the subject of a cap has spent today. The caller has locked the account. A day begins at 0. A cap that was set during
    -- the day includes what was spent before.
    create function credits_spent_today(p_subject text, p_account text, p_key text, p_today date) returns bigint language plpgsql as $$
    declare
        known day_spending;
        midnight timestamptz := p_today::timestamp at time zone 'UTC';
        before bigint := 0;
    begin
        select d.* into known from day_spending d where d.subject = p_subject for update;
        if found and known.day = p_today then
            return known.spent;
        end if;
        if not found then
            select coalesce(sum(-e.available_delta - e.held_delta), 0) into before
                from ledger_entries e join holds h on h.operation = coalesce(e.hold_operation, e.operation)
                where e.account_id = p_account and e.kind = 'charge' and e.at >= midnight and h.created_at >= midnight
                  and (p_key is null or h.key_id = p_key);
            before := before + coalesce((
                -- What a slice has released already is subtracted when it ends, with the rest that it did not spend.
                select sum(h.amount - h.parts_charged) from holds h
                where h.state in ('held', 'sent') and h.account_id = p_account and h.created_at >= midnight
                  and (p_key is null or h.key_id = p_key)), 0);
            -- The unspent part of these holds is subtracted later too. Holds that another call is ending now are skipped: that call waits
            -- for this one.
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

    -- Cuts an order to what the caps of its account and key leave, and counts it. First subtracts what ended holds did not spend, so that
    -- settlements need not know about caps. The caller has locked the account.
    create function credits_cap(ordered credit_order, p_account_cap integer, p_today date) returns credit_order language plpgsql as $$
    declare
        ended record;
        capped record;
        most bigint;
    begin
        ordered.is_capped := true;
        for ended in
            update holds h set is_capped = false
                where h.account_id = ordered.account_id and h.is_capped and h.settled_at is not null
                returning h.key_id, h.amount - coalesce(h.charged, 0) as back, (h.created_at at time zone 'UTC')::date as day
        loop
            update day_spending d set spent = greatest(0, d.spent - ended.back)
                where d.subject in (ordered.account_id, ended.key_id) and d.day = ended.day;
        end loop;
        for capped in
            select c.kind, c.cap, credits_spent_today(c.subject, ordered.account_id, c.key_id, p_today) as spent
            from (values ('account', ordered.account_id, p_account_cap, null),
                         ('key', ordered.key_id, (select k.day_cap from api_keys k where k.id = ordered.key_id), ordered.key_id)
                 ) as c (kind, subject, cap, key_id)
            where c.cap is not null
        loop
            most := greatest(0, capped.cap - capped.spent) / ordered.unit;
            if most < ordered.units then
                ordered.units := most;
                if most = 0 then
                    ordered.limited_by := capped.kind;
                    ordered.cap := capped.cap;
                    ordered.spent := capped.spent;
                end if;
            end if;
        end loop;
        update day_spending d set spent = d.spent + ordered.units * ordered.unit
            where d.subject in (ordered.account_id, ordered.key_id) and d.day = p_today and ordered.units > 0;
        return ordered;
    end $$;

    -- Computes what charges earn: \`settlements\` gets the bonuses of first fetches, \`bonuses\` those of others. Locks users and owed
    -- contributions before any account is locked.
    create function credits_earned(
        inout settlements credit_settlement[], p_first_fetch integer, p_referral integer, p_referrals_a_month integer,
        out bonuses credit_bonus[]
    ) language plpgsql as $$
    declare
        moment timestamptz := app_now();
        person record;
        debt record;
        place integer;
    begin
        bonuses := '{}';
        for person in
            select u.id, u.invited_by, u.earns_inviter, u.first_charged_at from users u
            where u.id = any (array(select s.user_id from unnest(settlements) as s where s.charged > 0))
              and (u.first_charged_at is null or u.referral_from <= moment)
            order by u.id for update
        loop
            if person.first_charged_at is null then
                select min(n) into place from generate_subscripts(settlements, 1) as n
                    where settlements[n].user_id = person.id and settlements[n].charged > 0;
                settlements[place].first_fetch := p_first_fetch;
                update users u
                    set first_charged_at = moment, first_charged_operation = settlements[place].operation,
                        referral_from = case when person.invited_by is not null and person.earns_inviter
                            then (date_trunc('day', moment at time zone 'UTC') + interval '1 day') at time zone 'UTC' end
                    where u.id = person.id;
            else
                update users u set referral_from = null where u.id = person.id;
                bonuses := bonuses || array(
                    select row(coalesce(c.moved_to, c.id), 'referral', c.id, person.id, p_referral, p_referrals_a_month)::credit_bonus
                    from credit_accounts c where c.id = person.invited_by);
            end if;
        end loop;

        for debt in
            select o.registrable, o.account_id, o.credits, o.a_month, coalesce(c.moved_to, c.id) as home
            from owed_contributions o join credit_accounts c on c.id = o.account_id
            where exists (
                select from unnest(settlements) as s join contributions_by_call f on f.site = s.site
                where f.registrable = o.registrable and s.charged > 0 and s.account_id not in (c.id, coalesce(c.moved_to, c.id))
                  and s.user_id <> o.account_id and s.user_id is distinct from o.published_by)
            order by o.registrable for update of o
        loop
            delete from owed_contributions o where o.registrable = debt.registrable;
            bonuses := bonuses || row(debt.home, 'contribution', debt.account_id, debt.registrable, debt.credits, debt.a_month)::credit_bonus;
        end loop;
    end $$;

    -- Ends the holds \`s_…\`: by a charge of at most their amount, or by a release if the charge is null. Begins the holds \`h_…\`. Marks
    -- the holds \`m_…\` as sent. The first call to end or to mark a hold wins. Orders are sorted by account. Returns a row for each order
    -- of an existing account, and for each existing hold.
    --
    -- The hold of a slice ends in parts: s_part is what the ended items held, s_movement the operation of the movement. A null s_part ends
    -- all that is left. h_items is the number of items that share a hold; null: its call is not an item of a batch.
    --
    -- p_first_fetch and p_referral are credits; p_referrals_a_month is how often a month an inviter can earn them.
    -- h_revision is the revision of the site that the caller knows, or null. If the site has changed, nothing is held (is_stale).
    -- m_by is different for each mark. By it the caller recognises its own mark when it tries again after a lost answer.
    create function credits_move(
        s_operation text[], s_charge bigint[], p_first_fetch integer, p_referral integer, p_referrals_a_month integer,
        h_operation text[] default '{}', h_account text[] default '{}', h_user text[] default '{}', h_workspace text[] default '{}',
        h_key text[] default '{}', h_site text[] default '{}', h_endpoint text[] default '{}', h_version bigint[] default '{}',
        h_effect text[] default '{}', h_unit bigint[] default '{}', h_max_units integer[] default '{}', h_lasts_ms bigint[] default '{}',
        h_is_capped boolean[] default '{}', h_registrable text[] default '{}', h_revision text[] default '{}',
        m_operation text[] default '{}', m_by text[] default '{}',
        s_part bigint[] default '{}', s_movement text[] default '{}', h_batch text[] default '{}', h_items integer[] default '{}'
    ) returns table (operation text, won boolean, state text, marked boolean, charged bigint, first_fetch integer, available bigint,
                     amount bigint, units integer, is_stale boolean, limited_by text, cap bigint, spent bigint, resets_at timestamptz)
    language plpgsql set lock_timeout = '1s' as $$
    #variable_conflict use_column
    declare
        moment timestamptz := app_now();
        today date := (moment at time zone 'UTC')::date;
        settlements credit_settlement[] := '{}';
        settlement credit_settlement;
        settlement_place integer := 1;
        may_earn boolean := false;
        bonuses credit_bonus[] := '{}';
        bonus credit_bonus;
        orders credit_order[] := '{}';
        ordered credit_order;
        order_place integer := 1;
        is_stale boolean[];
        account_ids text[] := h_account;
        account credit_accounts;
        changed credit_accounts[] := '{}';
        from_allowance bigint;
        back bigint;
    begin
        -- End holds. The first call to end a hold wins.
        if cardinality(s_operation) > 0 then
            -- With this limit the planner expects one row, and with this form of "is open" many rows. So it looks holds up by key, in the
            -- given order, and never reads the whole table, not even while the table is empty.
            with given as (
                select * from unnest(s_operation, s_charge, s_part, s_movement) as s (operation, charge, part, movement)
                limit cardinality(s_operation)
            ), ended as (
                update holds h
                    set state = case when g.part < h.amount - h.parts_ended then h.state
                                     when g.charge is null and h.parts_charged = 0 then 'released' else 'charged' end,
                        charged = case when g.part < h.amount - h.parts_ended or g.charge is null and h.parts_charged = 0 then null
                                       else h.parts_charged + least(coalesce(g.charge, 0), coalesce(g.part, h.amount - h.parts_ended)) end,
                        settled_at = case when g.part < h.amount - h.parts_ended then null else moment end,
                        parts_ended = h.parts_ended + coalesce(g.part, 0),
                        parts_charged = h.parts_charged + case when g.part is null then 0 else least(coalesce(g.charge, 0), g.part) end
                    from given g
                    where h.operation = g.operation and h.state not in ('charged', 'released')
                      and coalesce(g.part, 0) <= h.amount - h.parts_ended
                    returning h.operation, h.account_id, h.user_id, h.site, h.from_allowance, h.period_number, h.sent_at, h.batch_id,
                              -- The first parts take the held allowance.
                              h.parts_ended - coalesce(g.part, 0) as before, coalesce(g.part, h.amount - h.parts_ended) as part,
                              h.amount as whole, h.items, g.charge, g.movement
            ), parts as (
                select e.*, least(coalesce(e.charge, 0), e.part) as charged, e.items * e.part / e.whole as part_items,
                       least(e.part, greatest(0, e.from_allowance - e.before)) as part_from_allowance
                from ended e
            )
            select array_agg(row(e.operation, e.account_id, e.user_id, e.site, e.part, e.part_from_allowance, e.period_number,
                                 e.sent_at is not null, e.charge is null, e.charged, 0, 0, 0, e.movement, e.batch_id, e.part_items
                                )::credit_settlement order by e.account_id),
                   account_ids || array_agg(e.account_id),
                   bool_or(e.charged > 0 and (
                       exists (select from users u where u.id = e.user_id and (u.first_charged_at is null or u.referral_from <= moment))
                       or exists (select from contributions_by_call f where f.site = e.site and f.account_id <> e.account_id)))
                into settlements, account_ids, may_earn
                from parts e;
        end if;
        -- Mark holds as sent.
        if cardinality(m_operation) > 0 then
            return query
                update holds h set state = 'sent', sent_at = moment, sent_by = g.by
                from (select * from unnest(m_operation, m_by) as m (operation, by) limit cardinality(m_operation)) as g
                where h.operation = g.operation and h.state not in ('charged', 'released') and (h.state <> 'sent' or h.sent_by = g.by)
                returning h.operation::text, true, h.state, true, 0::bigint, 0, 0::bigint,
                          h.amount, h.units, false, null::text, null::bigint, null::bigint, null::timestamptz;
        end if;
        -- The bonuses that the charges earn. Users are locked before accounts.
        if may_earn then
            select e.settlements, e.bonuses into settlements, bonuses
                from credits_earned(settlements, p_first_fetch, p_referral, p_referrals_a_month) e;
            account_ids := account_ids || array(select unnest(array[b.home, b.beneficiary]) from unnest(bonuses) as b);
        end if;
        -- Find orders of a site that has changed.
        if cardinality(h_operation) > 0 then
            is_stale := array(
                select o.revision is not null and o.revision <> format('%s:%s:%s',
                           (select d.revision from domains d where d.registrable = o.registrable),
                           (select s.revision from sites s where s.site = o.site),
                           (select v.revision from versions v where v.id = o.version))
                from unnest((select h_registrable), (select h_site), (select h_version), (select h_revision))
                     as o (registrable, site, version, revision));
        end if;

        -- For each account: give back unspent credits, add bonuses, hold credits for orders.
        for account in select c.* from credit_accounts c where c.id = any ((select account_ids)::text[]) order by c.id for update loop
            if account.resets_at <= moment then
                account := credits_turn_period(account);
            end if;
            loop
                settlement := settlements[settlement_place];
                exit when settlement.account_id is distinct from account.id;
                -- A charge takes first the held allowance, then the held bonus. The rest returns to where it came from. If it came from the
                -- allowance of an earlier period, it lapses.
                from_allowance := least(settlement.charged, settlement.from_allowance);
                back := case when settlement.period_number = account.period_number
                    then least(settlement.from_allowance - from_allowance, account.allowance - account.allowance_available) else 0 end;
                settlement.lapsed := settlement.from_allowance - from_allowance - back;
                account.allowance_available := account.allowance_available + back;
                account.bonus_available := account.bonus_available + settlement.first_fetch
                    + settlement.amount - settlement.from_allowance - (settlement.charged - from_allowance);
                account.held := account.held - settlement.amount;
                settlement.available := account.allowance_available + account.bonus_available;
                settlements[settlement_place] := settlement;
                settlement_place := settlement_place + 1;
            end loop;
            foreach bonus in array bonuses loop
                if bonus.home = account.id then
                    account := credits_earn(account, bonus.kind, bonus.beneficiary, bonus.subject, bonus.credits, bonus.a_month);
                end if;
            end loop;
            while h_account[order_place] <= account.id loop
                -- Skip orders of an account that does not exist.
                if h_account[order_place] = account.id then
                    ordered := row(h_operation[order_place], account.id, h_user[order_place], h_workspace[order_place], h_key[order_place],
                                   h_site[order_place], h_endpoint[order_place], h_version[order_place], h_effect[order_place],
                                   h_unit[order_place], h_lasts_ms[order_place], h_is_capped[order_place], is_stale[order_place],
                                   0, 0, 0, account.period_number, 0, null, null, null, h_batch[order_place], h_items[order_place]);
                    -- As many whole units as are ordered, affordable and within the caps. The allowance is used before the bonus.
                    if not ordered.is_stale then
                        ordered.units := least(h_max_units[order_place],
                                               (account.allowance_available + account.bonus_available) / ordered.unit);
                        if ordered.units > 0 and (ordered.is_capped or account.day_cap is not null) then
                            ordered := credits_cap(ordered, account.day_cap, today);
                        end if;
                    end if;
                    ordered.items := case when ordered.items is not null then least(ordered.items, ordered.units) end;
                    ordered.amount := ordered.units * ordered.unit;
                    ordered.from_allowance := least(ordered.amount, account.allowance_available);
                    account.allowance_available := account.allowance_available - ordered.from_allowance;
                    account.bonus_available := account.bonus_available - (ordered.amount - ordered.from_allowance);
                    account.held := account.held + ordered.amount;
                    ordered.available := account.allowance_available + account.bonus_available;
                    orders := array_append(orders, ordered);
                end if;
                order_place := order_place + 1;
            end loop;
            changed := array_append(changed, account);
        end loop;
        if settlement_place <= cardinality(settlements) then
            raise exception 'hold % has no account', settlements[settlement_place].operation;
        end if;

        -- Write all changes at once.
        update credit_accounts c
            set allowance_available = n.allowance_available, bonus_available = n.bonus_available, held = n.held
            from (select * from unnest(changed) limit cardinality(changed)) as n
            where c.id = n.id
              and (c.allowance_available <> n.allowance_available or c.bonus_available <> n.bonus_available or c.held <> n.held);
        if cardinality(settlements) > 0 then
            return query
                with ended as materialized (
                    select * from unnest(settlements) limit cardinality(settlements)
                ), entered as (
                    insert into ledger_entries (account_id, operation, kind, available_delta, held_delta, at, hold_operation, batch_id, items)
                        select s.account_id, coalesce(s.movement, s.operation), e.kind, e.available_delta, e.held_delta, moment,
                               case when s.movement is not null then s.operation end, s.batch_id, s.items
                        from ended s
                        cross join lateral (values
                            (case when s.is_release then 'release' else 'charge' end, s.amount - s.charged, -s.amount),
                            ('lapse', -s.lapsed, 0),
                            ('first_fetch', s.first_fetch, 0)
                        ) as e (kind, available_delta, held_delta)
                        where e.available_delta <> 0 or e.held_delta <> 0
                )
                select s.operation, true, case when s.is_release then 'released' else 'charged' end, s.is_sent, s.charged, s.first_fetch,
                       s.available, s.amount, 0, false, null::text, null::bigint, null::bigint, null::timestamptz
                from ended s;
        end if;
        if cardinality(orders) > 0 then
            return query
                with begun as materialized (
                    select * from unnest(orders) limit cardinality(orders)
                ), held as (
                    insert into holds (operation, account_id, user_id, workspace_id, key_id, site, endpoint, version_id, effect,
                                       amount, units, from_allowance, from_bonus, period_number, created_at, expires_at, is_capped,
                                       batch_id, items)
                        select o.operation, o.account_id, o.user_id, o.workspace_id, o.key_id, o.site, o.endpoint, o.version_id, o.effect,
                               o.amount, o.units, o.from_allowance, o.amount - o.from_allowance, o.period_number,
                               moment, moment + o.lasts_ms * interval '1 millisecond', o.is_capped, o.batch_id, o.items
                        from begun o where o.amount > 0
                ), entered as (
                    insert into ledger_entries (account_id, operation, kind, available_delta, held_delta, at, batch_id, items)
                        select o.account_id, o.operation, 'hold', -o.amount, o.amount, moment, o.batch_id, o.items
                        from begun o where o.amount > 0
                )
                select o.operation, o.units > 0, 'held', false, 0::bigint, 0,
                       o.available, o.amount, o.units, o.is_stale, o.limited_by, o.cap, o.spent, (today + 1)::timestamp at time zone 'UTC'
                from begun o;
        end if;

        -- Return holds that had already ended, unchanged.
        if coalesce(cardinality(settlements), 0) < cardinality(s_operation) then
            return query
                select h.operation::text, false, h.state, h.sent_at is not null, coalesce(h.charged, 0),
                       case when exists (select from users u where u.id = h.user_id and u.first_charged_operation = h.operation)
                            then p_first_fetch else 0 end,
                       c.allowance_available + c.bonus_available, h.amount, 0, false,
                       null::text, null::bigint, null::bigint, null::timestamptz
                from (select * from unnest(s_operation) as s (operation) limit cardinality(s_operation)) as g
                join holds h on h.operation = g.operation
                join credit_accounts c on c.id = h.account_id
                where h.operation not in (select s.operation from unnest(settlements) as s);
        end if;
    end $$;

    -- Releases expired holds, except those that another call works on. Returns how many.
    create function credits_sweep(p_limit integer) returns integer language plpgsql as $$
    declare
        forgotten text[] := array(
            select h.operation from holds h
            where h.state in ('held', 'sent') and h.expires_at <= app_now()
            order by h.expires_at limit p_limit for update skip locked);
    begin
        perform from credits_move(forgotten, array_fill(null::bigint, array[cardinality(forgotten)]), 0, 0, 0);
        return cardinality(forgotten);
    end $$;
`;
