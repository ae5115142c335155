import type { Knex } from 'knex';
import * as common from '../1000_common.ts';
import * as signIn from '../1020_sign_in.ts';
import * as search from '../1060_search.ts';
import * as periods from '../1110_credit_periods.ts';
import * as bonuses from '../1120_credit_bonuses.ts';
import * as moves from '../1130_credit_moves.ts';
import * as idempotency from '../1170_idempotency.ts';
import * as keptResults from '../1180_kept_results.ts';
import * as limits from '../1200_limits.ts';
import * as circuits from '../1210_circuits.ts';
import * as audit from '../1220_audit.ts';

/**
 * Updates from migration 0156 to the baseline. Deletes what was stored unencrypted before the key ring. Results are fetched again, a stored
 * answer of an Idempotency-Key counts as unreadable (its call is not repeated), and waiting mails are not sent.
 */
export async function updateFrom0156(knex: Knex): Promise<void> {
    await knex.raw(DROP_FUNCTIONS);
    await knex.raw(common.FUNCTIONS);
    await knex.raw(TABLES);
    await knex.raw(moves.TYPES);
    await knex.raw(`drop table circuits, circuit_tallies, site_turns; ${circuits.STATES}`);
    for (const part of [signIn, search, periods, bonuses, moves, idempotency, keptResults, limits, circuits, audit]) {
        await knex.raw(part.FUNCTIONS);
    }
    await knex.raw('select workspace_audit_upkeep(400, 90)');
}

/** Drops the functions that the baseline replaces or no longer has. */
const DROP_FUNCTIONS = `
    do $$
    declare
        signature regprocedure;
    begin
        for signature in
            select p.oid from pg_proc p
            where p.pronamespace = current_schema()::regnamespace and p.proname ~ '^((credit|credits|idempotency|kept_results|circuit|worker)_|site_(turn|pause|standing)$)'
        loop
            execute format('drop function %s', signature);
        end loop;
    end $$;
`;

const TABLES = `
    alter table domains add revision bigint not null default 1;
    alter table sites add revision bigint not null default 1;
    alter table versions add revision bigint not null default 1;
    create trigger domains_revision before update on domains for each row execute function raise_revision();
    create trigger sites_revision before update on sites for each row execute function raise_revision();
    create trigger versions_revision before update on versions for each row execute function raise_revision();
    alter table versions rename constraint versions_check2 to versions_check1;
    alter table versions rename constraint versions_check3 to versions_check2;

    update workspace_news set topic = coalesce(topic, 'news ' || id), domain = coalesce(domain, topic, 'news ' || id)
        where topic is null or domain is null;
    alter table workspace_news alter topic set not null, alter domain set not null;
    drop table mails;

    alter table holds set (autovacuum_vacuum_threshold = 2000, autovacuum_analyze_threshold = 2000);
    alter table ledger_entries validate constraint ledger_entries_kind_check;

    alter table idempotency drop column headers, drop column body;
    alter table idempotency set (autovacuum_vacuum_threshold = 2000, autovacuum_analyze_threshold = 2000);
    delete from kept_results where sealed is null;
    update kept_result_bytes b set bytes = (select coalesce(sum(r.size), 0) from kept_results r where r.account_id = b.account_id);
    alter table kept_results drop column result, alter sealed set not null;

    analyze workspace_news, kept_results, kept_result_bytes;
`;
