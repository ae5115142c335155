import type { Knex } from 'knex';

export { down } from './100_common_functions.ts';

/** Rate limits, leases and heartbeats without Redis. Unlogged: after a crash windows begin again and refuse nothing. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create unlogged table limit_windows (
            identity text not null,
            name text not null,
            ends_at timestamptz not null,
            used int not null,
            primary key (identity, name)
        ) with (fillfactor = 50);
        create index limit_windows_ends on limit_windows (ends_at);

        create unlogged table limit_leases (
            operation text primary key,
            account text not null,
            site text,
            is_free boolean not null default false,
            expires_at timestamptz not null
        ) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
        create index limit_leases_account on limit_leases (account);
        create index limit_leases_site on limit_leases (site);
        create index limit_leases_free on limit_leases (expires_at) where is_free;

        create unlogged table fleet_workers (
            id text primary key,
            slots int not null,
            busy int not null,
            progress_at timestamptz not null,
            expires_at timestamptz not null
        ) with (fillfactor = 50);
    `);
    await knex.raw(FUNCTIONS);
}

const FUNCTIONS = `
    -- Real time, which tests do not change: a heartbeat says that a process lives.
    create function fleet_now() returns timestamptz language sql stable as $$ select now() $$;

    create function fleet_slots() returns int language sql stable
        as $$ select coalesce(sum(slots), 0)::int from fleet_workers where expires_at > fleet_now() $$;

    -- Checks and counts all limits in one step. Locks are taken in one order (identity, account, site). No row lock is taken that another
    -- call could hold while it waits for one of these locks, so there is no deadlock. Each statement after a lock sees what the last holder
    -- committed. Free may have 3/4 of all slots, from half on one each; both at least 64. The fetches of Free are counted without a lock:
    -- calls that arrive together may pass their bound by a few.
    create function limits_take(
        p_identity text, p_names text[], p_limits int[], p_seconds int[],
        p_operation text, p_account text, p_concurrency int, p_site text, p_share int, p_lease_ms bigint,
        p_is_free boolean default false,
        out verdict int, out used int[], out left_ms bigint[]
    ) language plpgsql as $$
    declare
        v_now timestamptz;
        v_ends timestamptz[];
        v_share int;
        v_free int;
        v_is_new boolean := false;
    begin
        verdict := 0;
        perform pg_advisory_xact_lock(7062611, hashtext(p_identity));
        if p_operation is not null then
            perform pg_advisory_xact_lock(7062612, hashtext(p_account));
            if p_site is not null then
                perform pg_advisory_xact_lock(7062613, hashtext(p_site));
            end if;
        end if;
        v_now := app_now();

        select array_agg(case when w.ends_at > v_now then w.ends_at end order by n.position),
               array_agg(case when w.ends_at > v_now then w.used else 0 end order by n.position),
               coalesce(bool_or(case when w.ends_at > v_now then w.used else 0 end >= p_limits[n.position])::int, 0)
          into v_ends, used, verdict
          from unnest(p_names) with ordinality as n (name, position)
          left join limit_windows w on w.identity = p_identity and w.name = n.name;

        if verdict = 0 and p_operation is not null then
            v_is_new := not exists (select from limit_leases l where l.operation = p_operation and l.expires_at > v_now);
            if v_is_new and (select count(*) from limit_leases l where l.account = p_account and l.expires_at > v_now) >= p_concurrency then
                verdict := 2;
            elsif v_is_new and p_site is not null then
                v_share := coalesce(p_share, greatest(2, fleet_slots() / 2));
                if (select count(*) from limit_leases l where l.site = p_site and l.expires_at > v_now) >= v_share then
                    verdict := 3;
                end if;
            end if;
            if v_is_new and verdict = 0 and p_is_free then
                v_free := (select count(*) from limit_leases l where l.is_free and l.expires_at > v_now);
                if v_free >= greatest(64, fleet_slots() * 3 / 4) or v_free >= greatest(64, fleet_slots() / 2)
                    and exists (select from limit_leases l where l.account = p_account and l.expires_at > v_now) then
                    verdict := 4;
                end if;
            end if;
        end if;

        if verdict = 0 then
            select array_agg(coalesce(v_ends[n.position], v_now + make_interval(secs => p_seconds[n.position])) order by n.position),
                   array_agg(limits_take.used[n.position] + 1 order by n.position)
              into v_ends, used
              from unnest(p_names) with ordinality as n (name, position);
            insert into limit_windows (identity, name, ends_at, used)
                select p_identity, t.name, t.ends_at, t.used from unnest(p_names, v_ends, limits_take.used) as t (name, ends_at, used)
                on conflict on constraint limit_windows_pkey do update set ends_at = excluded.ends_at, used = excluded.used;
            if p_operation is not null then
                insert into limit_leases (operation, account, site, is_free, expires_at)
                    values (p_operation, p_account, p_site, p_is_free, v_now + make_interval(secs => p_lease_ms / 1000.0))
                    on conflict on constraint limit_leases_pkey do update set expires_at = excluded.expires_at;
            end if;
        end if;

        select coalesce(array_agg(coalesce(ceil(extract(epoch from e.ends_at - v_now) * 1000)::bigint, 0) order by e.position), '{}')
          into left_ms from unnest(v_ends) with ordinality as e (ends_at, position);
        used := coalesce(used, '{}');
    end $$;

    create function limits_peek(p_identity text, p_names text[], p_account text, out used int[], out left_ms bigint[], out in_flight int)
    language sql stable as $$
        select coalesce(array_agg(coalesce(w.used, 0) order by n.position), '{}'),
               coalesce(array_agg(coalesce(ceil(extract(epoch from w.ends_at - app_now()) * 1000)::bigint, 0) order by n.position), '{}'),
               (select count(*)::int from limit_leases l where l.account = p_account and l.expires_at > app_now())
          from unnest(p_names) with ordinality as n (name, position)
          left join limit_windows w on w.identity = p_identity and w.name = n.name and w.ends_at > app_now()
    $$;

    -- Deletes only rows that no call has locked, so neither waits for the other.
    create function limits_sweep() returns void language sql as $$
        delete from limit_windows where ctid = any (array(
            select ctid from limit_windows where ends_at < app_now() - interval '1 minute' limit 5000 for update skip locked));
        delete from limit_leases where ctid = any (array(
            select ctid from limit_leases where expires_at < app_now() limit 5000 for update skip locked));
    $$;
`;
