import type { Knex } from 'knex';

export { down } from './100_common_functions.ts';

/** Apps, such as clients of MCP, that people allow to act for them (api/oauth). A grant is a key with tokens that change. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table apps (
            -- The URL of its document, or app_… if it registered itself.
            id text primary key,
            name text,
            redirect_uris text[] not null default '{}',
            -- Why its document cannot be used.
            problem text,
            -- When its document was last requested, when it was last read, and when a worker began to read it.
            asked_at timestamptz,
            began_at timestamptz,
            read_at timestamptz,
            created_at timestamptz not null default app_now()
        );
        create index apps_asked on apps (asked_at) where asked_at is not null;

        create table app_grants (
            key_id text primary key references api_keys on delete cascade,
            app_id text not null references apps,
            user_id text not null references users on delete cascade
        );
        create index app_grants_user on app_grants (user_id);
        create index app_grants_app on app_grants (app_id);

        create table app_codes (
            hash bytea primary key,
            key_id text not null references api_keys on delete cascade,
            redirect_uri text not null,
            challenge text not null,
            expires_at timestamptz not null,
            used_at timestamptz
        );
        create index app_codes_key on app_codes (key_id);
        create index app_codes_expires on app_codes (expires_at);

        create table app_refresh_tokens (
            hash bytea primary key,
            key_id text not null references api_keys on delete cascade,
            used_at timestamptz
        );
        create index app_refresh_tokens_key on app_refresh_tokens (key_id);
    `);
}
