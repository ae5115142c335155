import type { Knex } from 'knex';
import { pinSearchPath } from './100_common_functions.ts';

export { down } from './100_common_functions.ts';

/** Who changed what: operators in `audit`, everybody else in a workspace's audit. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table audit (
            id bigint generated always as identity primary key,
            at timestamptz not null default app_now(),
            actor text not null,
            command text not null,
            target text not null,
            reason text,
            before jsonb,
            after jsonb
        );
        create trigger audit_append_only before update or delete or truncate on audit
            for each statement execute function refuse_change();

        -- Partitioned by month: an old month is dropped as a whole instead of row by row. Rows without a partition yet go to
        -- workspace_audit_rest, and the upkeep moves them. An actor is the operator, the system, a user, a key, or another workspace.
        create sequence workspace_audit_id;
        create table workspace_audit (
            id bigint not null default nextval('workspace_audit_id'),
            at timestamptz not null default app_now(),
            workspace_id text collate "C" not null,
            actor text collate "C" not null check (actor in ('operator', 'system') or actor ~ '^(usr|key|wsp)_'),
            action text collate "C" not null,
            target text not null,
            ip inet,
            details jsonb not null default '{}',
            primary key (at, id)
        ) partition by range (at);
        create index workspace_audit_of_workspace on workspace_audit (workspace_id, at, id);
        create index workspace_audit_with_ip on workspace_audit (at) where ip is not null;
        create table workspace_audit_rest partition of workspace_audit default;
    `);
    await knex.raw(FUNCTIONS);
    await knex.raw('select workspace_audit_upkeep(400, 90)');
}

const FUNCTIONS = `
    -- Creates the partitions of this month and the next two, drops months that ended p_days ago, and deletes addresses after p_ip_days.
    create function workspace_audit_months(p_days integer, p_ip_days integer) returns void language plpgsql
        set lock_timeout = '1s' as $$
    declare
        starts timestamptz;
        ends timestamptz;
        part text;
    begin
        perform pg_advisory_xact_lock(hashtext('workspace_audit_upkeep'));
        for n in 0..2 loop
            starts := (date_trunc('month', app_now() at time zone 'UTC') + n * interval '1 month') at time zone 'UTC';
            ends := (starts at time zone 'UTC' + interval '1 month') at time zone 'UTC';
            part := 'workspace_audit_' || to_char(starts at time zone 'UTC', 'YYYY_MM');
            if to_regclass(part) is null then
                execute format('create table %I (like workspace_audit including all)', part);
                execute format('with moved as (delete from workspace_audit_rest where at >= %L and at < %L returning *)
                                insert into %I select * from moved', starts, ends, part);
                execute format('alter table workspace_audit attach partition %I for values from (%L) to (%L)', part, starts, ends);
            end if;
        end loop;
        for part in select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
                    where i.inhparent = 'workspace_audit'::regclass and c.relname ~ '^workspace_audit_\\d{4}_\\d{2}$' loop
            ends := (to_date(right(part, 7), 'YYYY_MM') + interval '1 month') at time zone 'UTC';
            if ends < app_now() - p_days * interval '1 day' then
                execute format('drop table %I', part);
            end if;
        end loop;
        delete from workspace_audit_rest where at < app_now() - p_days * interval '1 day';
        update workspace_audit set ip = null where ip is not null and at < app_now() - p_ip_days * interval '1 day';
    end $$;
    revoke execute on function workspace_audit_months(integer, integer) from public;

    -- Runs with the rights of the owner, since APIs and workers may not create or drop anything else.
    create function workspace_audit_upkeep(p_days integer, p_ip_days integer) returns void language plpgsql security definer as $$
    begin
        if not has_table_privilege(session_user, 'workspace_audit', 'delete') then
            raise insufficient_privilege using message = 'the upkeep of the audit needs the right to delete from workspace_audit';
        end if;
        perform workspace_audit_months(p_days, p_ip_days);
    end $$;
    ${pinSearchPath('workspace_audit_upkeep(integer, integer)')}`;
