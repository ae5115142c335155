import type { Knex } from 'knex';

export { down } from './100_common_functions.ts';

/** Keys of an installation, and mails that are still to be sent. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        -- The key ring (shared/platform/secrets.ts) of an installation without SECRET_KEYS. Empty if SECRET_KEYS is set.
        create table secret_ring (
            is_only boolean primary key default true check (is_only),
            id text not null,
            key bytea not null check (octet_length(key) = 32),
            -- Only operators read it, by hand.
            made_at timestamptz not null default app_now()
        );

        -- Authenticates the cursors of lists. All processes use the same key.
        create table cursor_key (
            is_only boolean primary key default true check (is_only),
            key bytea not null
        );
        -- Hashes the addresses of callers without a key: they can be counted, but the addresses stay unknown.
        create table caller_key (
            is_only boolean primary key default true check (is_only),
            key bytea not null
        );
        -- Two random UUIDs have 244 random bits. pgcrypto is not available on every server.
        insert into cursor_key (key) values (sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')));
        insert into caller_key (key) values (sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')));
        analyze cursor_key, caller_key;

        create table outgoing_mails (
            id bigint generated always as identity primary key,
            recipient text not null,
            -- Subject and text as JSON, encrypted by the key ring.
            sealed bytea not null,
            -- Only operators read it, by hand: how long a mail has waited.
            queued_at timestamptz not null default app_now(),
            due_at timestamptz not null default app_now(),
            attempts integer not null default 0
        );
        create index outgoing_mails_by_due on outgoing_mails (due_at);
    `);
}
