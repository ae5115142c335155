import type { Knex } from 'knex';

/**
 * When a job of an account, or an item of a batch, was last claimed (real time). Only claims write this table. Before, these were columns
 * of job_accounts and batches. Then a claim had to wait for a long order of one account, and all other claims waited for that claim.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table job_turns (
            -- account_id or batch_id
            line text collate "C" primary key,
            served_at timestamptz not null
        ) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
        insert into job_turns
            select account_id, served_at from job_accounts where served_at > '-infinity'
            union all select batch_id, served_at from batches where served_at > '-infinity' and finished_at is null;
        analyze job_turns;
        alter table job_accounts drop column served_at;
        alter table batches drop column served_at;
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        alter table job_accounts add served_at timestamptz not null default '-infinity';
        alter table batches add served_at timestamptz not null default '-infinity';
        update job_accounts a set served_at = t.served_at from job_turns t where t.line = a.account_id;
        update batches b set served_at = t.served_at from job_turns t where t.line = b.batch_id;
        analyze job_accounts, batches;
        drop table job_turns;
    `);
}
