import { readdirSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { updateFrom540 } from '../migrations/bridge/from-540.ts';
import { migrateQueue } from './coordination/queue/queue.ts';
import { type Db, openDb } from './platform/db.ts';
import { failureOf, isOutage } from './platform/pg-errors.ts';
import { ConfigFault } from './platform/settings-reader.ts';

const FOLDER = fileURLToPath(new URL('../migrations', import.meta.url));
/** Milliseconds between two looks whether the process that migrates has ended. */
const LOCK_MS = 200;
/** The baseline. Later migrations are numbered from 400. */
const BASELINE = /^[123]\d\d_.*\.ts$/;
/** The last migration before the baseline, and the last commit that migrates older databases to it. */
const BEFORE_BASELINE = { migration: '540_directions_of_endpoints.ts', commit: 'b54dcf8' };

/** Migrates the database at `url`: our tables, and the schema of the queue. @throws ConfigFault if it cannot be reached */
export async function migrateAll(url: string): Promise<void> {
    await migrate(url);
    await migrateQueue(url);
}

/**
 * Migrates our tables.
 * @throws ConfigFault if the database cannot be reached; an Error of one line if it is too old for the baseline
 */
export async function migrate(url: string): Promise<void> {
    const db = openDb({ url, poolSize: 3, acquireTimeoutMs: 30_000, name: 'routebook-migrate' });
    try {
        await db.raw('select 1').catch((error: unknown) => {
            if (!isOutage(error)) throw error;
            const cause = failureOf(error) === 'unsent' && error instanceof Error ? error.message : 'it does not answer';
            throw new ConfigFault([`DATABASE_URL: the database cannot be reached: ${cause}`]);
        });
        // If several processes start together, one migrates and the others wait: by asking again, since an index that is built concurrently
        // waits for each statement that runs, and so for one that waits for the lock.
        await db.transaction(async (lock) => {
            while (!(await tryLock(lock))) await setTimeout(LOCK_MS);
            await moveToBaseline(db);
            const config = { directory: FOLDER, loadExtensions: ['.ts'], tableName: 'migrations' };
            // knex has a lock of its own, which stays where a process was killed. Nobody else migrates now.
            await db.migrate.forceFreeMigrationsLock(config);
            await db.migrate.latest(config);
        });
    } finally {
        await db.destroy();
    }
}

async function tryLock(db: Db): Promise<boolean> {
    const { rows } = await db.raw<{ rows: [{ got: boolean }] }>("select pg_try_advisory_xact_lock(hashtext('routebook migrate')) as got");
    return rows[0].got;
}

/** Moves a database at the last migration before the baseline to the baseline. Does nothing to new databases and those at the baseline. */
async function moveToBaseline(db: Db): Promise<void> {
    if (!(await db.schema.hasTable('migrations'))) return;
    const names: string[] = await db('migrations').orderBy('name').pluck('name');
    const baseline = readdirSync(FOLDER)
        .filter((file) => BASELINE.test(file))
        .toSorted();
    // No earlier database has the baseline's first file.
    if (names.length === 0 || names.some((name) => name === baseline[0])) return;
    if (names.at(-1) !== BEFORE_BASELINE.migration) {
        throw new Error(`this database is at migration ${names.at(-1)}: run \`npm run migrate\` of commit ${BEFORE_BASELINE.commit} first`);
    }
    await db.transaction(async (trx) => {
        await updateFrom540(trx);
        await trx('migrations').delete();
        await trx('migrations').insert(baseline.map((file) => ({ name: file, batch: 1, migration_time: trx.raw('app_now()') })));
    });
}
