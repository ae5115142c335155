import type { Knex } from 'knex';

/** Invitations to a workspace: used once, by whoever holds the link, or only by the address it was mailed to. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table workspace_invitations (
            id text collate "C" primary key check (id like 'inv\\_%'),
            token_hash bytea not null unique check (octet_length(token_hash) = 32),
            workspace_id text collate "C" not null references workspaces (id) on delete cascade,
            role text not null check (role in ('owner', 'admin', 'billing', 'member')),
            address text,
            address_normalised text,
            invited_by text collate "C" not null references users (id) on delete cascade,
            created_at timestamptz not null default app_now(),
            expires_at timestamptz not null,
            check ((address is null) = (address_normalised is null))
        );
        create index workspace_invitations_of_workspace on workspace_invitations (workspace_id, created_at);
        create index workspace_invitations_by_expiry on workspace_invitations (expires_at);
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('drop table workspace_invitations;');
}
