import type { Knex } from 'knex';

export { down } from './100_common.ts';

/** Refused attempts store nothing: a stranger could fill the table by signing in with ever new addresses. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(FUNCTIONS);
}

const FUNCTIONS = `
    -- Seconds to wait until none of the counters is full; null if none is. The clock may have been read just before another attempt began
    -- its window, so the wait is at most a whole window.
    create function attempts_wait(p_names text[], p_limits integer[], p_seconds integer[], moment timestamptz) returns double precision
    language sql stable as $$
        select max(least(extract(epoch from a.ends_at - moment), n.seconds))
        from attempts a join unnest(p_names, p_limits, p_seconds) as n (name, most, seconds) on n.name = a.name
        where a.ends_at > moment and a.used >= n.most
    $$;

    -- Counts one attempt under each name. If one of the names has reached its limit, counts none, and returns the seconds until the attempt
    -- is possible. Rows are locked in the order of their names.
    create or replace function attempts_take(p_names text[], p_limits integer[], p_seconds integer[]) returns double precision
    language plpgsql as $$
    declare
        moment timestamptz := app_now();
        wait double precision := attempts_wait(p_names, p_limits, p_seconds, moment);
    begin
        if wait is not null then
            return wait;
        end if;
        insert into attempts (name, used, ends_at)
            select name, 0, moment from unnest(p_names) as n (name) order by name on conflict do nothing;
        perform from attempts a where a.name = any(p_names) order by a.name for update;
        -- Again, since other attempts may have been counted while this one waited for their locks.
        wait := attempts_wait(p_names, p_limits, p_seconds, moment);
        if wait is not null then
            return wait;
        end if;
        update attempts a
            set used = case when a.ends_at > moment then a.used + 1 else 1 end,
                ends_at = case when a.ends_at > moment then a.ends_at else moment + n.seconds * interval '1 second' end
            from unnest(p_names, p_seconds) as n (name, seconds) where n.name = a.name;
        return 0;
    end $$;
`;
