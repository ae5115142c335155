import type { Knex } from 'knex';

export { down } from './100_common.ts';

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
            expires_at timestamptz not null
        ) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
        create index limit_leases_account on limit_leases (account);
        create index limit_leases_site on limit_leases (site);

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
