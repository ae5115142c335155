import type { Knex } from 'knex';

/** Each step is its own transaction, so that calls can be logged while the table is scanned. */
export const config = { transaction: false };

/** How often the exchange of the tables is tried, for two seconds each, while others read the log. */
const TRIES = 30;

/**
 * Partitions the request log by day (UTC), so that an old day is dropped instead of deleted row by row. The old table becomes the partition
 * of all days up to tomorrow, so its rows stay in place. With a validated constraint, PostgreSQL need not scan them under a lock.
 */
export async function up(knex: Knex): Promise<void> {
    const { rows } = await knex.raw<{ rows: [{ day: string }] }>(
        "select to_char(app_now() at time zone 'UTC' + interval '2 days', 'YYYY-MM-DD') as day",
    );
    const until = `'${rows[0].day} 00:00:00+00'`;
    await knex.raw(`
        alter table usage drop constraint if exists usage_before_days;
        alter table usage add constraint usage_before_days check (at < ${until}) not valid;
    `);
    await knex.raw('alter table usage validate constraint usage_before_days');
    await whenUnlocked(knex, (trx) => trx.raw(`${EXCHANGE} ${ATTACH(until)} ${FUNCTIONS} select usage_make_days(app_now());`));
}

/** Makes it one table again. */
export async function down(knex: Knex): Promise<void> {
    await whenUnlocked(knex, (trx) =>
        trx.raw(`
            drop function usage_make_days(timestamptz), usage_drop_days(integer), usage_partitions();
            alter table usage rename to usage_days;
            create table usage (like usage_days including constraints);
            insert into usage select * from usage_days order by at, id;
            alter table usage alter id add generated always as identity, add primary key (id);
            ${KEEP_RIGHTS('usage_days')}
            drop table usage_days;
            select setval(pg_get_serial_sequence('usage', 'id'), coalesce(max(id), 0) + 1, false) from usage;
            create index usage_account on usage (account_id, at);
            create index usage_workspace on usage (workspace_id, at, id);
            create index usage_at on usage using brin (at);
            analyze usage;
        `),
    );
}

/** A transaction that waits for the lock blocks all others. So it gives up after two seconds and tries again. */
async function whenUnlocked(knex: Knex, change: (trx: Knex.Transaction) => Knex.Raw): Promise<void> {
    for (let left = TRIES; ; left--) {
        try {
            await knex.transaction(async (trx) => {
                await trx.raw("set local lock_timeout = '2s'");
                await change(trx);
            });
            return;
        } catch (error) {
            if (left === 0 || !(error instanceof Error && 'code' in error && error.code === '55P03')) throw error;
        }
    }
}

/** Gives the new table the rights of another one, and the use of its sequence to those who may insert. */
const KEEP_RIGHTS = (before: string) => `
    do $$
    declare
        given record;
        numbers text := coalesce(pg_get_serial_sequence('usage', 'id'), 'usage_id');
    begin
        for given in
            select case a.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(a.grantee)) end as role, a.privilege_type as kind
            from pg_class c, aclexplode(c.relacl) a where c.oid = '${before}'::regclass and a.grantee <> c.relowner
        loop
            execute format('grant %s on usage to %s', given.kind, given.role);
            if given.kind = 'INSERT' then
                execute format('grant usage on sequence %s to %s', numbers, given.role);
            end if;
        end loop;
    end $$;
`;

/** Uses a sequence, since PostgreSQL 15 does not allow an identity column in partitions. The rights are copied to the new table. */
const EXCHANGE = `
    alter table usage rename to usage_before;
    alter index usage_pkey rename to usage_before_pkey;
    alter index usage_account rename to usage_before_account;
    alter index usage_workspace rename to usage_before_workspace;
    alter index usage_at rename to usage_before_at;

    create sequence usage_id;
    create table usage (like usage_before including constraints including defaults) partition by range (at);
    alter table usage drop constraint usage_before_days, alter id set default nextval('usage_id');
    create index usage_account on usage (account_id, at);
    create index usage_workspace on usage (workspace_id, at, id);
    create index usage_at on usage using brin (at);
    do $$
    declare
        last bigint;
    begin
        execute format('select last_value from %s', pg_get_serial_sequence('usage_before', 'id')) into last;
        perform setval('usage_id', last + 1, false);
    end $$;
    ${KEEP_RIGHTS('usage_before')}
    alter table usage_before alter id drop identity, alter id set default nextval('usage_id'), drop constraint usage_before_pkey;
    alter sequence usage_id owned by usage.id;
`;

/** Attaches the old table. A new database has none. */
const ATTACH = (until: string) => `
    do $$
    begin
        if exists (select from usage_before) then
            alter table usage attach partition usage_before for values from (minvalue) to (${until});
            alter table usage_before drop constraint usage_before_days;
        else
            drop table usage_before;
        end if;
    end $$;
`;

/** These functions run with the rights of the owner, since APIs and workers may not create or drop anything else. */
export const FUNCTIONS = `
    create or replace function usage_partitions() returns table (part regclass, since timestamptz, until timestamptz)
        language sql stable as $$
        select c.oid::regclass, coalesce(substring(b.bound from $re$FROM \\('([^']+)'\\)$re$)::timestamptz, '-infinity'),
               substring(b.bound from $re$TO \\('([^']+)'\\)$re$)::timestamptz
        from pg_inherits i join pg_class c on c.oid = i.inhrelid
        cross join lateral (select pg_get_expr(c.relpartbound, c.oid) as bound) as b
        where i.inhparent = 'usage'::regclass
    $$;

    -- Creates the missing days from p_since to three days ahead. There is no default partition: each new day would have to scan its rows
    -- under a lock.
    create or replace function usage_make_days(p_since timestamptz) returns void language plpgsql security definer
        set lock_timeout = '1s' as $$
    declare
        starts timestamptz := date_trunc('day', greatest(p_since, app_now() - interval '100 days'), 'UTC');
        ends timestamptz;
        part text;
    begin
        perform pg_advisory_xact_lock(hashtext('usage_make_days'));
        while starts < app_now() + interval '72 hours' loop
            ends := starts + interval '24 hours';
            if not exists (select from usage_partitions() as p where p.since < ends and p.until > starts) then
                part := 'usage_' || to_char(starts at time zone 'UTC', 'YYYY_MM_DD');
                -- Attaching blocks neither readers nor writers; "create table ... partition of" would.
                execute format('create table %I (like usage including all)', part);
                execute format('alter table usage attach partition %I for values from (%L) to (%L)', part, starts, ends);
            end if;
            starts := ends;
        end loop;
    end $$;

    -- Drops the partitions that ended p_days ago, and returns how many. They stay while a long read of the log is running.
    create or replace function usage_drop_days(p_days integer) returns integer language plpgsql security definer
        set lock_timeout = '200ms' as $$
    declare
        past regclass;
        dropped integer := 0;
    begin
        if not has_table_privilege(session_user, 'usage', 'delete') then
            raise insufficient_privilege using message = 'dropping days of the request log needs the right to delete from usage';
        end if;
        for past in select part from usage_partitions() where until <= app_now() - p_days * interval '1 day' order by until loop
            execute format('drop table %s', past);
            dropped := dropped + 1;
        end loop;
        return dropped;
    exception when lock_not_available then
        return 0;
    end $$;

    do $$
    declare
        name text;
    begin
        foreach name in array array['usage_make_days(timestamptz)', 'usage_drop_days(integer)'] loop
            execute format('alter function %s set search_path = %I, pg_temp', name, current_schema());
        end loop;
    end $$;
`;
