import type { Knex } from 'knex';

/**
 * People, the workspaces they share, the keys made there, and what operators changed. Ids compare byte by byte
 * (`collate "C"`): they are opaque, and locks are taken in the order of ids that JavaScript sees too.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table users (
            id text collate "C" primary key check (id like 'usr\\_%'),
            email text not null,
            email_normalised text not null unique,
            password_hash text,
            verified_at timestamptz,
            suspended_at timestamptz,
            invited_by text collate "C" references users (id),
            first_charged_at timestamptz,
            first_charged_operation text collate "C",
            created_at timestamptz not null default app_now(),
            check (invited_by <> id)
        );
        -- Every charge asks whether it is its user's first one: almost always this index knows nothing of the user.
        create index users_uncharged on users (id) where first_charged_at is null;

        create table workspaces (
            id text collate "C" primary key check (id like 'wsp\\_%'),
            name text not null,
            plan text not null default 'free' check (plan in ('free', 'starter', 'pro', 'enterprise')),
            created_at timestamptz not null default app_now()
        );

        create table memberships (
            workspace_id text collate "C" not null references workspaces (id) on delete cascade,
            user_id text collate "C" not null references users (id) on delete cascade,
            role text not null check (role in ('owner', 'admin', 'member')),
            created_at timestamptz not null default app_now(),
            primary key (workspace_id, user_id)
        );
        create index memberships_of_user on memberships (user_id);

        create table api_keys (
            id text collate "C" primary key check (id like 'key\\_%'),
            workspace_id text collate "C" not null references workspaces (id),
            user_id text collate "C" not null references users (id),
            name text not null,
            hash bytea not null unique check (octet_length(hash) = 32),
            prefix text not null check (char_length(prefix) = 12),
            created_at timestamptz not null default app_now(),
            expires_at timestamptz,
            revoked_at timestamptz,
            last_used_at timestamptz
        ) with (fillfactor = 80);
        create index api_keys_of_workspace on api_keys (workspace_id, created_at);
        create index api_keys_of_user on api_keys (user_id);

        create function refuse_change() returns trigger language plpgsql
            as $$ begin raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation'; end $$;

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
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        drop table audit;
        drop function refuse_change();
        drop table api_keys;
        drop table memberships;
        drop table workspaces;
        drop table users;
    `);
}
