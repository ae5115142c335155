import type { Knex } from 'knex';
import { FUNCTIONS } from './1220_audit.ts';

/** The upkeep of the audit creates and drops months with the rights of the owner, like that of the request log. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        alter function workspace_audit_upkeep(integer, integer) rename to workspace_audit_months;
        revoke execute on function workspace_audit_months(integer, integer) from public;
        create function workspace_audit_upkeep(p_days integer, p_ip_days integer) returns void language plpgsql security definer as $$
        begin
            if not has_table_privilege(session_user, 'workspace_audit', 'delete') then
                raise insufficient_privilege using message = 'the upkeep of the audit needs the right to delete from workspace_audit';
            end if;
            perform workspace_audit_months(p_days, p_ip_days);
        end $$;
        do $$
        begin
            execute format('alter function workspace_audit_upkeep(integer, integer) set search_path = %I, pg_temp', current_schema());
        end $$;
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('drop function workspace_audit_upkeep(integer, integer); drop function workspace_audit_months(integer, integer)');
    await knex.raw(FUNCTIONS);
}
