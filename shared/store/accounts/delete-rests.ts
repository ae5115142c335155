import type { Knex } from 'knex';
import type { Db } from '../../platform/db.ts';

/** Maximum rows that one statement deletes. */
const AT_ONCE = 5000;

/**
 * Deletes what deleted accounts have left: the request log, and all rows of workspaces without other members, except published packages.
 * There may be millions, so this takes many short transactions. Any process may run it, also concurrently.
 */
export async function deleteRests(db: Db): Promise<void> {
    const users: Deleted[] = await db('users').whereNotNull('emptied').orderBy('id').select('id', 'emptied');
    for (const user of users) if (await deleteRest(db, user)) await db('users').where({ id: user.id }).update({ emptied: null });
}

interface Deleted {
    id: string;
    /** Ids of workspaces. */
    emptied: string[];
}

interface Rest {
    table: string;
    key: string[];
    of: (rows: Knex.QueryBuilder) => Knex.QueryBuilder;
}

/** False if another process is deleting some of its rows. */
async function deleteRest(db: Db, { id, emptied }: Deleted): Promise<boolean> {
    const ofEmptied = (rows: Knex.QueryBuilder) => rows.whereIn('workspace_id', emptied);
    // A paid workspace is an account of its own.
    const ofAccounts = (rows: Knex.QueryBuilder) => rows.whereIn('account_id', [id, ...emptied]);
    const ofWebhooks = (rows: Knex.QueryBuilder) => rows.whereIn('webhook_id', ofEmptied(db('webhooks')).select('id'));
    const rests: Rest[] = [
        // Running jobs end without a charge, because a job without a row is not charged. First, because their ends are events.
        { table: 'jobs', key: ['job_id'], of: ofEmptied },
        { table: 'batches', key: ['batch_id'], of: ofEmptied },
        { table: 'monitors', key: ['monitor_id'], of: ofEmptied },
        { table: 'webhook_deliveries', key: ['id'], of: ofWebhooks },
        { table: 'webhooks', key: ['id'], of: ofEmptied },
        { table: 'events', key: ['id'], of: ofEmptied },
        { table: 'events', key: ['id'], of: ofAccounts },
        { table: 'workspace_audit', key: ['at', 'id'], of: ofEmptied },
    ];
    for (const { table, key, of } of rests) {
        const rows = () => of(db(table));
        // Rows that another process locks are left to it.
        const some = () => db(table).whereIn(key, rows().limit(AT_ONCE).forUpdate().skipLocked().select(key));
        while ((await some().delete()) > 0);
        if ((await rows().first(key)) !== undefined) return false;
    }
    // Nobody waits for these rows.
    await ofEmptied(db('site_callers')).delete();
    for (const table of ['usage', 'usage_hours']) await ofAccounts(db(table)).delete();
    return true;
}
