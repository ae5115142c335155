import type { Knex } from 'knex';

/** The most monitors that an operator allows an account; null: those of its plan. Set and cleared like the other limits of an account. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw('alter table credit_accounts add monitors integer check (monitors >= 0)');
    await knex.raw(functions({ opened: OPENED, renewed: RENEWED }));
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw(functions({ opened: '', renewed: '' }));
    await knex.raw('alter table credit_accounts drop monitors');
}

const OPENED = ", monitors = (p_limits ->> 'monitors')::integer";
const RENEWED = ', monitors = case when keeps_limits then c.monitors end';

/** As in 1110_credit_periods.ts, with more settings. */
const functions = ({ opened, renewed }: { opened: string; renewed: string }) => `
    create or replace function credits_open(p_id text, p_plan text, p_plan_allowance integer, p_limits jsonb, p_restart boolean)
    returns void language plpgsql as $$
    declare
        account credit_accounts := credits_lock(p_id, p_plan);
        figure integer := coalesce((p_limits ->> 'allowance')::integer, p_plan_allowance);
        next bigint;
    begin
        if account.resets_at <= app_now() then
            account := credits_turn_period(account);
        end if;
        if p_restart or account.period_number = 0 then
            perform credits_begin_period(account, figure, app_now(), null, credit_period_end(app_now(), 1));
        else
            next := least(figure, greatest(0, account.allowance_available + figure - account.allowance));
            perform credits_enter(p_id, case when next > account.allowance_available then 'grant' else 'expire' end,
                                  next - account.allowance_available, 'limit ' || figure);
            update credit_accounts c set allowance = figure, allowance_available = next where c.id = p_id;
        end if;
        update credit_accounts c
            set plan = p_plan, moved_to = null, allowance_override = (p_limits ->> 'allowance')::integer,
                per_minute = (p_limits ->> 'perMinute')::integer, per_hour = (p_limits ->> 'perHour')::integer,
                per_day = (p_limits ->> 'perDay')::integer, concurrency = (p_limits ->> 'concurrency')::integer${opened}
            where c.id = p_id;
    end $$;

    create or replace function credits_renew(p_id text, p_plan text, p_plan_allowance integer, p_from timestamptz, p_until timestamptz)
    returns void language plpgsql as $$
    declare
        account credit_accounts := credits_lock(p_id, p_plan);
        keeps_limits boolean := account.plan = p_plan;
        override integer := case when keeps_limits then account.allowance_override end;
    begin
        perform credits_begin_period(account, coalesce(override, p_plan_allowance), p_from, p_until, p_until + interval '3 days');
        update credit_accounts c
            set plan = p_plan, moved_to = null, allowance_override = override,
                per_minute = case when keeps_limits then c.per_minute end, per_hour = case when keeps_limits then c.per_hour end,
                per_day = case when keeps_limits then c.per_day end, concurrency = case when keeps_limits then c.concurrency end${renewed}
            where c.id = p_id;
    end $$;
`;
