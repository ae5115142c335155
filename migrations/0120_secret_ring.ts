import type { Knex } from 'knex';

/** The key ring of an installation without SECRET_KEYS; empty where that is set. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table secret_ring (
            is_only boolean primary key default true check (is_only),
            id text not null,
            key bytea not null check (octet_length(key) = 32),
            made_at timestamptz not null default app_now()
        );
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('drop table secret_ring;');
}
