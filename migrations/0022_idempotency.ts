import type { Knex } from 'knex';

/**
 * Remembered answers (docs/api.md, "Idempotency"): one row a workspace, route and key. Without a status the first
 * call is still running, until running_until at the latest; body and headers come back byte for byte.
 */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(`
        create table idempotency (
            workspace_id text not null,
            route text not null,
            idempotency_key text not null,
            body_hash bytea not null,
            operation text not null,
            status smallint,
            headers json,
            body bytea,
            size integer not null default 0 check (size >= 0),
            created_at timestamptz not null default app_now(),
            running_until timestamptz not null,
            expires_at timestamptz not null,
            primary key (workspace_id, route, idempotency_key)
        );
        create index idempotency_expiry on idempotency (expires_at);
        create index idempotency_size on idempotency (workspace_id) include (size);
    `);
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('drop table idempotency;');
}
