import type { Knex } from 'knex';

export { down } from './100_common_functions.ts';

/** Claims on registrable domains, checked by one worker at a time, which holds `began_at` for 20 seconds. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table claims (
            id text collate "C" primary key check (id like 'clm\\_%'),
            registrable text collate "C" not null,
            workspace_id text collate "C" not null references workspaces (id),
            account_id text collate "C" not null,
            token text collate "C" not null unique check (token ~ '^[0-9A-Za-z]{32}$'),
            status text not null default 'pending' check (status in ('pending', 'proven', 'failed')),
            reason text,
            method text check (method in ('dns', 'file')),
            -- The number of finished checks. A caller who asked for a check waits until it rises.
            checks integer not null default 0,
            -- Failed rechecks in a row.
            failures integer not null default 0,
            due_at timestamptz,
            began_at timestamptz,
            checked_at timestamptz,
            proven_at timestamptz,
            created_at timestamptz not null default app_now(),
            expires_at timestamptz not null,
            check ((status = 'proven') = (proven_at is not null))
        );
        create index claims_of_workspace on claims (workspace_id, registrable, created_at, id);
        create index claims_of_account on claims (account_id) where status <> 'proven';
        create index claims_proven on claims (registrable) where status = 'proven';
        create index claims_due on claims (due_at) where due_at is not null;
        create index claims_running on claims (account_id) where began_at is not null;
    `);
}
