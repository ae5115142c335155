import type { Knex } from 'knex';

/**
 * The hosts that a version calls (shared/domain/package-hosts.ts), so that cards show them without reading whole packages. URLs of
 * published packages are in canonical form: the host is in lower case and stands behind `//`, without user info.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        alter table versions add hosts text[] not null default '{}';
        update versions v set hosts = array(
            select distinct substring(u.url from '^[a-z]+://([^/:\\?#]+)') collate "C"
            from json_array_elements(v.document->'endpoints') as e,
                 lateral (values (e->>'url'), (case when json_typeof(e->'prepare') = 'object' then e->'prepare'->>'url' end)) as u (url)
            where u.url is not null order by 1);
        with histories as (
            select id, hosts, lag(hosts) over (partition by site order by version) as before from versions
        )
        update versions v
            set changes = (v.changes::jsonb || jsonb_build_object('hosts_added', array(
                select host from unnest(h.hosts) as host where host <> all (coalesce(h.before, '{}')))))::json
            from histories h where h.id = v.id;
        alter table versions alter hosts drop default;
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('alter table versions drop hosts');
}
