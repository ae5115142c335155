import type { Knex } from 'knex';

export { down } from './100_common.ts';

/** Outside of a transaction, so that keys are made while the index is built. An interrupted build leaves an invalid index. */
export const config = { transaction: false };

/** Pages find the active keys of a workspace without reading those that have ended, which stay. */
export async function up(knex: Knex): Promise<void> {
    await knex.raw('drop index concurrently if exists api_keys_unrevoked');
    await knex.raw('create index concurrently api_keys_unrevoked on api_keys (workspace_id, expires_at) where revoked_at is null');
}
