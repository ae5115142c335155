import type { Knex } from 'knex';

export { down } from './100_common_functions.ts';

/** Results that may be returned again to who paid for them. kept_result_bytes has the sum per account and is locked first. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table kept_results (
            account_id text not null,
            question bytea not null,
            -- Encrypted by the key ring.
            sealed bytea not null,
            results integer not null,
            size integer not null check (size >= 0),
            kept_at timestamptz not null,
            primary key (account_id, question)
        );
        -- Encrypted bytes cannot be compressed.
        alter table kept_results alter column sealed set storage external;
        create index kept_results_of_account on kept_results (account_id, kept_at);
        create index kept_results_by_age on kept_results (kept_at);
        create table kept_result_bytes (
            account_id text primary key,
            bytes bigint not null check (bytes >= 0)
        ) with (fillfactor = 50);
    `);
    await knex.raw(FUNCTIONS);
}

const FUNCTIONS = `
    -- Stores one result and replaces an earlier one. Deletes the account's oldest results until at most p_max_bytes are stored. p_sealed is
    -- base64.
    create function kept_results_keep(p_account text, p_question text, p_sealed text, p_results integer, p_max_bytes bigint)
    returns void language plpgsql as $$
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

    -- Skips accounts that another process works on; the next sweep handles them.
    create function kept_results_sweep(p_max_age integer, p_limit integer) returns integer language plpgsql as $$
    declare
        swept integer;
        late timestamptz := app_now() - p_max_age * interval '1 second';
    begin
        with due as (
            select r.account_id from kept_results r where r.kept_at < late order by r.kept_at limit p_limit
        ), locked as (
            select b.account_id from kept_result_bytes b where b.account_id in (select account_id from due)
            order by b.account_id for update skip locked
        ), gone as (
            delete from kept_results r using locked l where r.account_id = l.account_id and r.kept_at < late
            returning r.account_id, r.size
        ), counted as (
            update kept_result_bytes b set bytes = b.bytes - g.size
            from (select account_id, sum(size) as size from gone group by account_id) g where b.account_id = g.account_id
        )
        select count(*) into swept from gone;
        return swept;
    end $$;
`;
