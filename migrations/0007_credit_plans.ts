import type { Knex } from 'knex';

/** Opening an account, giving it another plan or other limits, and bringing one account up to date when somebody looks at it. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        -- Opens the account, or changes it. p_restart begins a new billing period at once; without it the period goes on, and what
        -- was used of the old limit counts as used of the new one. p_limits holds overrides; what is absent follows the plan.
        create function credits_open(p_id text, p_plan text, p_plan_allowance integer, p_limits jsonb, p_restart boolean)
        returns void language plpgsql as $$
        declare
            moment timestamptz := app_now();
            figure integer := coalesce((p_limits ->> 'allowance')::integer, p_plan_allowance);
            account credit_accounts;
            next bigint;
        begin
            insert into credit_accounts (id, plan, anchored_at, period_number, period_start, resets_at,
                                         allowance, allowance_available, bonus_available, held)
                values (p_id, p_plan, moment, 1, moment, credit_period_end(moment, 1), figure, figure, 0, 0)
                on conflict do nothing;
            if found then
                if figure > 0 then
                    insert into ledger_entries (account_id, kind, available_delta, held_delta, note, at)
                        values (p_id, 'grant', figure, 0, 'period 1', moment);
                end if;
            else
                select c.* into account from credit_accounts c where c.id = p_id for update;
                if account.resets_at <= moment then
                    account := credits_turn_period(account, moment);
                end if;
                if p_restart then
                    insert into ledger_entries (account_id, kind, available_delta, held_delta, note, at)
                        select p_id, e.kind, e.delta, 0, 'period ' || account.period_number + e.period, moment
                        from (values ('expire', -account.allowance_available, 0), ('grant', figure, 1)) as e (kind, delta, period)
                        where e.delta <> 0;
                    update credit_accounts c
                        set anchored_at = moment, anchored_period = c.period_number + 1, period_number = c.period_number + 1,
                            period_start = moment, resets_at = credit_period_end(moment, 1),
                            allowance = figure, allowance_available = figure
                        where c.id = p_id;
                else
                    next := least(figure, greatest(0, account.allowance_available + figure - account.allowance));
                    if next <> account.allowance_available then
                        insert into ledger_entries (account_id, kind, available_delta, held_delta, note, at)
                            values (p_id, case when next > account.allowance_available then 'grant' else 'expire' end,
                                    next - account.allowance_available, 0, 'limit ' || figure, moment);
                    end if;
                    update credit_accounts c set allowance = figure, allowance_available = next where c.id = p_id;
                end if;
            end if;
            update credit_accounts c
                set plan = p_plan, moved_to = null, allowance_override = (p_limits ->> 'allowance')::integer,
                    per_minute = (p_limits ->> 'perMinute')::integer, per_hour = (p_limits ->> 'perHour')::integer,
                    per_day = (p_limits ->> 'perDay')::integer, concurrency = (p_limits ->> 'concurrency')::integer
                where c.id = p_id;
        end $$;

        -- The account as it stands now: nobody sees a period that has ended, whether or not a sweeper runs.
        create function credits_refresh(p_id text) returns setof credit_accounts language plpgsql as $$
        declare
            account credit_accounts;
        begin
            select c.* into account from credit_accounts c where c.id = p_id for update;
            if found and account.resets_at <= app_now() then
                account := credits_turn_period(account, app_now());
            end if;
            return query select c.* from credit_accounts c where c.id = p_id;
        end $$;
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        drop function credits_refresh(text);
        drop function credits_open(text, text, integer, jsonb, boolean);
    `);
}
