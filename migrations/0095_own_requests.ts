import type { Knex } from 'knex';

/** A workspace sees the requests for schemas that it made. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw(
        'create index schema_requests_workspace on schema_requests (workspace_id, created_at desc) where workspace_id is not null',
    );
}

export async function down(knex: Knex): Promise<void> {
    await knex.raw('drop index schema_requests_workspace');
}
