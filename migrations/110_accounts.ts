import type { Knex } from 'knex';

export { down } from './100_common_functions.ts';

/** People, the workspaces they share, and API keys. Ids compare byte by byte, as in JavaScript, which sorts them to take locks. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table users (
            id text collate "C" primary key check (id like 'usr\\_%'),
            email text not null,
            email_normalised text not null unique,
            password_hash text,
            verified_at timestamptz,
            suspended_at timestamptz,
            deleted_at timestamptz,
            -- The workspaces that a deleted user left empty, until their rows and the user's own are deleted.
            emptied text[] collate "C",
            -- Raised by each change that ends sessions. A sign-in that was checked at an earlier revision cannot start a session.
            sign_in_revision bigint not null default 0,
            invite_code text unique,
            invited_by text collate "C" references users (id),
            -- False: too many people signed up that day from the same address range or mail domain.
            earns_inviter boolean not null default true,
            -- From this time on a charge pays the inviter. Null: no charge does.
            referral_from timestamptz,
            first_charged_at timestamptz,
            first_charged_operation text collate "C",
            created_at timestamptz not null default app_now(),
            check (invited_by <> id)
        );
        -- Each charge checks whether it earns a bonus. This index has few users, and almost never the charged one.
        create index users_awaiting_bonus on users (id) where first_charged_at is null or referral_from is not null;
        create index users_emptied on users (id) where emptied is not null;

        -- What deleted accounts had used, by the SHA-256 of their normalised address, so that a new account of the same address earns
        -- nothing a second time.
        create table former_users (
            address_hash bytea primary key check (octet_length(address_hash) = 32),
            allowance_left bigint not null check (allowance_left >= 0),
            resets_at timestamptz not null,
            first_charged_at timestamptz,
            deleted_at timestamptz not null default app_now()
        );

        -- Sign-ups per day and origin. An origin is the hash of an address range or of a mail domain. Kept for that day.
        create table sign_ups_of_a_day (
            day date not null,
            origin bytea not null check (octet_length(origin) = 32),
            sign_ups integer not null,
            primary key (day, origin)
        );

        create table workspaces (
            id text collate "C" primary key check (id like 'wsp\\_%'),
            name text not null,
            plan text not null default 'free' check (plan in ('free', 'starter', 'pro', 'enterprise')),
            -- Whether its members need a second factor.
            demands_factor boolean not null default false,
            created_at timestamptz not null default app_now()
        );
        -- The operator's own workspace (shared/domain/site/routebook.ts) maintains what the installation publishes. It has no members,
        -- keys or credits.
        insert into workspaces (id, name) values ('wsp_routebook', 'Routebook');
        analyze workspaces;

        create table memberships (
            workspace_id text collate "C" not null references workspaces (id) on delete cascade
                constraint memberships_not_routebook check (workspace_id <> 'wsp_routebook'),
            user_id text collate "C" not null references users (id) on delete cascade,
            role text not null check (role in ('owner', 'admin', 'billing', 'member')),
            created_at timestamptz not null default app_now(),
            primary key (workspace_id, user_id)
        );
        create index memberships_of_user on memberships (user_id);

        -- An invitation works once: for the holder of the link, or only for the address it was mailed to.
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

        create table api_keys (
            id text collate "C" primary key check (id like 'key\\_%'),
            workspace_id text collate "C" not null references workspaces (id)
                constraint api_keys_not_routebook check (workspace_id <> 'wsp_routebook'),
            user_id text collate "C" not null references users (id),
            name text not null,
            hash bytea not null unique check (octet_length(hash) = 32),
            prefix text not null check (char_length(prefix) = 12),
            -- What the key may do (shared/domain/accounts/scopes.ts).
            scopes jsonb not null check (jsonb_typeof(scopes) = 'object') default '{
                "effects": ["read", "write"], "sites": null, "endpoints": null, "connections": [],
                "routes": ["fetch", "catalog", "jobs", "publish", "account"], "ip_allow": null
            }',
            -- The most credits that the key may spend a day (UTC); null: no cap.
            day_cap integer check (day_cap >= 0),
            -- The price of a write, in credits, above which a person must confirm it; null: never.
            confirm_above integer check (confirm_above >= 0),
            -- For the key of an app's grant: when its access token, whose hash is above, expires, and the path that its tokens may use.
            token_expires_at timestamptz,
            resource text,
            created_at timestamptz not null default app_now(),
            expires_at timestamptz,
            revoked_at timestamptz,
            last_used_at timestamptz
        ) with (fillfactor = 80);
        create index api_keys_of_workspace on api_keys (workspace_id, created_at);
        create index api_keys_of_user on api_keys (user_id);
        -- Keys that have ended stay, so pages of active keys do not read them.
        create index api_keys_unrevoked on api_keys (workspace_id, expires_at) where revoked_at is null;
    `);
}
