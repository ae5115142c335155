import type { Knex } from 'knex';

/** Where people are signed in and were before: addresses of sessions, the last sign-ins, and the browsers that are no news. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        alter table web_sessions add column address text;
        comment on column web_sessions.address is 'the client address that used it last';

        create table sign_ins (
            id bigint generated always as identity primary key,
            user_id text collate "C" not null references users (id) on delete cascade,
            at timestamptz not null default app_now(),
            how text not null,
            browser text not null,
            address text not null,
            is_new_browser boolean not null
        );
        create index sign_ins_of_user on sign_ins (user_id, id);

        create table known_browsers (
            user_id text collate "C" not null references users (id) on delete cascade,
            token_hash bytea not null check (octet_length(token_hash) = 32),
            signed_in_at timestamptz not null default app_now(),
            primary key (user_id, token_hash)
        );
        comment on column known_browsers.token_hash is 'of a cookie that outlives sessions';
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw(`
        drop table known_browsers;
        drop table sign_ins;
        alter table web_sessions drop column address;
    `);
}
