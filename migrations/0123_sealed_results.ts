import type { Knex } from 'knex';

/**
 * Results kept for `max_age` are encrypted by the key ring. Those in clear are found by processes of the release before alone, since
 * newer ones hash their questions otherwise, and are swept within 24 hours.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        alter table kept_results alter column result drop not null, add column sealed bytea;
        -- What is encrypted cannot be compressed.
        alter table kept_results alter column sealed set storage external;
        comment on column kept_results.result is 'in clear, of releases before the key ring';
    `);
    await knex.raw(KEEP);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        drop function kept_results_seal(text, text, text, integer, bigint);
        delete from kept_results where result is null;
        alter table kept_results alter column result set not null, drop column sealed;
        update kept_result_bytes b
            set bytes = (select coalesce(sum(r.size), 0) from kept_results r where r.account_id = b.account_id);
    `);
}

/** As 0024: one result in the place of an earlier one; the account's oldest go until it keeps at most p_max_bytes. p_sealed is base64. */
const KEEP = `
    create function kept_results_seal(p_account text, p_question text, p_sealed text, p_results integer, p_max_bytes bigint)
    returns void language plpgsql
    set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan set jit = off
    as $$
    declare
        kept bigint;
        earlier integer;
        oldest record;
        content bytea := decode(p_sealed, 'base64');
        size integer := octet_length(content);
    begin
        insert into kept_result_bytes as b (account_id, bytes) values (p_account, 0)
            on conflict (account_id) do update set bytes = b.bytes returning b.bytes into kept;
        delete from kept_results r where r.account_id = p_account and r.question = decode(p_question, 'hex') returning r.size into earlier;
        kept := kept - coalesce(earlier, 0) + size;
        if kept > p_max_bytes then
            for oldest in select r.question, r.size from kept_results r where r.account_id = p_account order by r.kept_at loop
                exit when kept <= p_max_bytes;
                delete from kept_results r where r.account_id = p_account and r.question = oldest.question;
                kept := kept - oldest.size;
            end loop;
        end if;
        insert into kept_results (account_id, question, sealed, results, size, kept_at)
            values (p_account, decode(p_question, 'hex'), content, p_results, size, app_now());
        update kept_result_bytes b set bytes = kept where b.account_id = p_account;
    end $$;
`;
