import type { Knex } from 'knex';

export { down } from './100_common_functions.ts';

/** What may delay or refuse a call: circuits and turns of hosts, and endpoints that kill workers. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        ${STATES}
        create table worker_deaths (
            version_id bigint not null,
            endpoint text not null,
            died_at timestamptz not null,
            quarantined_until timestamptz,
            primary key (version_id, endpoint)
        );
    `);
    await knex.raw(FUNCTIONS);
}

/** Recent fetches, circuits and turns. Unlogged: after a crash all circuits are closed. Deaths are logged: a quarantine lasts an hour. */
const STATES = `
    create unlogged table circuits (
        host text primary key,
        open_until timestamptz not null,
        period_ms int not null,
        probe text,
        probe_until timestamptz
    ) with (fillfactor = 50);

    create unlogged table circuit_tallies (
        host text not null,
        second bigint not null,
        passed int not null,
        failed int not null,
        primary key (host, second)
    ) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);

    -- The key is a host, or *.domain for the rate of a registrable domain.
    create unlogged table site_turns (
        key text primary key,
        next_at timestamptz not null,
        paused_until timestamptz
    ) with (fillfactor = 50);
`;

/**
 * A circuit without a probe for ten minutes counts as closed. Tallies are locked in the order of their hosts. A report that waits for
 * another report's row sees what the other has committed. So of two concurrent reports, the second one opens the circuit.
 */
const FUNCTIONS = `
    -- Returns the hosts whose circuit this report opened.
    create function circuit_report(p_hosts text[], p_passed int[], p_failed int[], p_window_s int, p_least int, p_period_ms int)
    returns setof text language plpgsql as $$
    begin
        insert into circuit_tallies as kept (host, second, passed, failed)
            select g.host, floor(extract(epoch from app_now()))::bigint, g.passed, g.failed
            from unnest(p_hosts, p_passed, p_failed) as g (host, passed, failed)
            where not exists (select from circuits c where c.host = g.host and c.open_until > app_now() - interval '10 minutes')
            order by g.host
            on conflict (host, second) do update
                set passed = kept.passed + excluded.passed, failed = kept.failed + excluded.failed;
        return query
            insert into circuits as kept (host, open_until, period_ms)
                select t.host, app_now() + make_interval(secs => p_period_ms / 1000.0), p_period_ms
                from circuit_tallies t
                where t.host = any (p_hosts) and t.second > floor(extract(epoch from app_now()))::bigint - p_window_s
                group by t.host
                having sum(t.passed + t.failed) >= p_least and sum(t.failed) * 2 > sum(t.passed + t.failed)
                order by t.host
                on conflict (host) do update
                    set open_until = excluded.open_until, period_ms = excluded.period_ms, probe = null, probe_until = null
                    where kept.open_until <= app_now() - interval '10 minutes'
                returning kept.host;
    end $$;

    -- Returns -1: closed; 0: this operation is the probe; otherwise milliseconds to wait.
    create function circuit_take_probe(p_host text, p_operation text, p_life_ms float8, p_patience_ms int) returns float8
    language plpgsql as $$
    declare v circuits;
    begin
        select * into v from circuits where host = p_host for update;
        if not found or v.open_until <= app_now() - interval '10 minutes' then
            return -1;
        elsif v.open_until > app_now() then
            return ceil(extract(epoch from v.open_until - app_now()) * 1000);
        elsif v.probe is not null and v.probe_until > app_now() then
            return p_patience_ms;
        end if;
        update circuits set probe = p_operation, probe_until = app_now() + make_interval(secs => p_life_ms / 1000) where host = p_host;
        return 0;
    end $$;

    create function circuit_end_probe(p_host text, p_operation text, p_verdict text, p_longest_ms int, out change text, out period_ms int)
    language plpgsql as $$
    declare v circuits;
    begin
        change := 'unchanged';
        select * into v from circuits c where c.host = p_host for update;
        if not found or v.probe is distinct from p_operation then
            return;
        elsif p_verdict = 'passed' then
            delete from circuits c where c.host = p_host;
            delete from circuit_tallies t where t.host = p_host;
            change := 'closed';
        elsif p_verdict = 'failed' then
            period_ms := least(p_longest_ms, v.period_ms * 2);
            update circuits c set probe = null, probe_until = null, period_ms = circuit_end_probe.period_ms,
                open_until = app_now() + make_interval(secs => circuit_end_probe.period_ms / 1000.0)
                where c.host = p_host;
            change := 'reopened';
        else
            update circuits c set probe = null, probe_until = null where c.host = p_host;
        end if;
    end $$;

    -- Deletes only rows that no call has locked, so neither waits for the other.
    create function circuit_sweep() returns void language sql as $$
        delete from circuit_tallies where ctid = any (array(select ctid from circuit_tallies
            where second < extract(epoch from app_now()) - 60 limit 5000 for update skip locked));
        delete from circuits where ctid = any (array(select ctid from circuits
            where open_until < app_now() - interval '10 minutes' limit 5000 for update skip locked));
        delete from site_turns where ctid = any (array(select ctid from site_turns
            where next_at < app_now() - interval '1 minute' limit 5000 for update skip locked));
        delete from worker_deaths where ctid = any (array(select ctid from worker_deaths
            where died_at < app_now() - interval '2 hours' limit 5000 for update skip locked));
    $$;

    -- Grants one turn that suits all keys. Without an interval, only requests that wait for the end of a pause keep a distance.
    create function site_turn(p_keys text[], p_intervals_ms float8[], p_distance_ms float8, p_patience_ms float8,
        out granted boolean, out wait_ms float8)
    language plpgsql as $$
    declare v_start timestamptz;
    begin
        insert into site_turns (key, next_at) select k, app_now() from unnest(p_keys) as k order by k on conflict (key) do nothing;
        perform from site_turns where key = any (p_keys) order by key for update;
        select greatest(app_now(), max(next_at)) into v_start from site_turns where key = any (p_keys);
        wait_ms := ceil(extract(epoch from v_start - app_now()) * 1000);
        granted := wait_ms <= p_patience_ms;
        if granted then
            update site_turns t set next_at = v_start + make_interval(secs => coalesce(g.interval_ms, p_distance_ms) / 1000)
                from unnest(p_keys, p_intervals_ms) as g (key, interval_ms)
                where t.key = g.key and (g.interval_ms is not null or t.next_at > app_now());
        end if;
    end $$;

    -- Returns false if the answered request was sent before the last pause ended, since it belongs to the same burst.
    create function site_pause(p_host text, p_pause_ms float8, p_age_ms float8) returns boolean language plpgsql as $$
    declare
        v_paused timestamptz;
        v_until timestamptz := app_now() + make_interval(secs => p_pause_ms / 1000);
    begin
        insert into site_turns (key, next_at) values (p_host, app_now()) on conflict (key) do nothing;
        select paused_until into v_paused from site_turns where key = p_host for update;
        if v_paused > app_now() - make_interval(secs => p_age_ms / 1000) then
            return false;
        end if;
        update site_turns set paused_until = v_until, next_at = greatest(next_at, v_until) where key = p_host;
        return true;
    end $$;

    -- Returns true if this death puts the endpoint into quarantine. Jobs that a dead worker ran at the same time count as one death.
    create function worker_death(p_version bigint, p_endpoint text, p_age_ms float8, p_success timestamptz,
        p_remember_ms float8, p_quarantine_ms float8)
    returns boolean language plpgsql as $$
    declare v worker_deaths;
    begin
        insert into worker_deaths (version_id, endpoint, died_at) values (p_version, p_endpoint, app_now())
            on conflict (version_id, endpoint) do nothing;
        if found then
            return false;
        end if;
        select * into v from worker_deaths where version_id = p_version and endpoint = p_endpoint for update;
        if v.quarantined_until > app_now() then
            return false;
        elsif v.died_at <= app_now() - make_interval(secs => p_remember_ms / 1000) or p_success > v.died_at then
            update worker_deaths set died_at = app_now(), quarantined_until = null
                where version_id = p_version and endpoint = p_endpoint;
            return false;
        elsif app_now() - make_interval(secs => p_age_ms / 1000) > v.died_at then
            update worker_deaths set died_at = app_now(),
                    quarantined_until = app_now() + make_interval(secs => p_quarantine_ms / 1000)
                where version_id = p_version and endpoint = p_endpoint;
            return true;
        end if;
        return false;
    end $$;
`;
