import type { Knex } from 'knex';

/** Second factors: an authenticator app (TOTP), passkeys and recovery codes; and the workspaces that demand one of their members. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table totp_secrets (
            user_id text collate "C" primary key references users (id) on delete cascade,
            sealed bytea not null,
            confirmed_at timestamptz,
            last_step bigint,
            created_at timestamptz not null default app_now()
        );
        comment on column totp_secrets.confirmed_at is 'null while its first code is awaited';
        comment on column totp_secrets.last_step is 'the time step of the last code that was used: each works once';

        create table passkeys (
            id text collate "C" primary key check (id like 'pky\\_%'),
            user_id text collate "C" not null references users (id) on delete cascade,
            credential_id bytea not null unique,
            public_key bytea not null,
            counter bigint not null,
            transports text[] not null,
            name text not null,
            created_at timestamptz not null default app_now(),
            last_used_at timestamptz
        );
        create index passkeys_of_user on passkeys (user_id);

        create table recovery_codes (
            user_id text collate "C" not null references users (id) on delete cascade,
            code_hash bytea not null check (octet_length(code_hash) = 32),
            primary key (user_id, code_hash)
        );

        create table passkey_challenges (
            challenge_hash bytea primary key check (octet_length(challenge_hash) = 32),
            user_id text collate "C" references users (id) on delete cascade,
            expires_at timestamptz not null
        );
        create index passkey_challenges_by_expiry on passkey_challenges (expires_at);
        comment on column passkey_challenges.user_id is 'null where nobody is signed in yet';

        create table sign_in_tickets (
            token_hash bytea primary key check (octet_length(token_hash) = 32),
            user_id text collate "C" not null references users (id) on delete cascade,
            expires_at timestamptz not null
        );
        create index sign_in_tickets_by_expiry on sign_in_tickets (expires_at);
        comment on table sign_in_tickets is 'a right password, before the second factor';

        alter table workspaces add column demands_factor boolean not null default false;
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        alter table workspaces drop column demands_factor;
        drop table sign_in_tickets;
        drop table passkey_challenges;
        drop table recovery_codes;
        drop table passkeys;
        drop table totp_secrets;
    `);
}
