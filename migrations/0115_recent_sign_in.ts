import type { Knex } from 'knex';

/** When the person behind a session last proved who they are: some pages demand that it was a moment ago. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        alter table web_sessions
            add column confirmed_at timestamptz,
            add column code_hash bytea check (octet_length(code_hash) = 32),
            add column code_expires_at timestamptz;
        update web_sessions set confirmed_at = created_at;
        alter table web_sessions alter column confirmed_at set not null, alter column confirmed_at set default app_now();
        comment on column web_sessions.code_hash is 'a mailed code that confirms who is signed in';
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('alter table web_sessions drop column confirmed_at, drop column code_hash, drop column code_expires_at;');
}
