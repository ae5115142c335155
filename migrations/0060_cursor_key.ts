import type { Knex } from 'knex';

/** The key that the cursors of lists are sealed with: one for all processes, made here and never shown. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table cursor_key (
            is_only boolean primary key default true check (is_only),
            key bytea not null
        );
        -- Two random uuids have 244 bits that nobody can guess; pgcrypto is not everywhere.
        insert into cursor_key (key) values (sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')));
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('drop table cursor_key;');
}
