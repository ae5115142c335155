import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { updateFrom0097 } from '../migrations/bridge/from-0097.ts';
import { updateFrom0156 } from '../migrations/bridge/from-0156.ts';
import { migrateQueue } from './coordination/queue/queue.ts';
import { type Db, openDb } from './platform/db.ts';

const FOLDER = fileURLToPath(new URL('../migrations', import.meta.url));
/** The last commit that can migrate a database from any older migration to 0156. */
const LAST_BEFORE_BASELINE = '6699734';

/** Migrates the database at `url`: our tables, and the schema of the queue. */
export async function migrateAll(url: string): Promise<void> {
    await migrate(url);
    await migrateQueue(url);
}

/** Migrates our tables. @throws an Error of one line if the database is too old for the baseline */
export async function migrate(url: string): Promise<void> {
    const db = openDb({ url, poolSize: 3, acquireTimeoutMs: 30_000, name: 'routebook-migrate' });
    try {
        // If several processes start together, one migrates and the others wait.
        await db.transaction(async (lock) => {
            await lock.raw("select pg_advisory_xact_lock(hashtext('routebook migrate'))");
            await moveToBaseline(db);
            await db.migrate.latest({ directory: FOLDER, loadExtensions: ['.ts'], tableName: 'migrations' });
        });
    } finally {
        await db.destroy();
    }
}

/** Moves a database at migration 0156 or 0097 to the baseline (`migrations/1…`). Does nothing to other databases. */
async function moveToBaseline(db: Db): Promise<void> {
    if (!(await db.schema.hasTable('migrations'))) return;
    const [newest] = await db('migrations').max('name', { as: 'name' });
    const name: string | null = newest?.name;
    if (name === null || name >= '1') return;
    if (!['0097_lone_movements.ts', '0156_runs_that_go_on.ts'].includes(name)) {
        throw new Error(`this database is at migration ${name}: run \`npm run migrate\` of commit ${LAST_BEFORE_BASELINE} first`);
    }
    await db.transaction(async (trx) => {
        if (name < '0156') await updateFrom0097(trx);
        await updateFrom0156(trx);
        const baseline = readdirSync(FOLDER).filter((file) => /^1\d{3}_.*\.ts$/.test(file));
        await trx('migrations').delete();
        await trx('migrations').insert(baseline.map((file) => ({ name: file, batch: 1, migration_time: trx.raw('app_now()') })));
    });
}
