import { expect } from 'chai';
import { openQueue } from '../../shared/coordination/queue/queue.ts';
import { migrateAll } from '../../shared/migrate.ts';
import { type Db, openDb } from '../../shared/platform/db.ts';
import { aJob, eventually, isUp, silent, success } from '../queue/jobs.ts';
import { createEmptyDatabase, type TestDatabase } from '../support/postgres.ts';
import { uniquePrefix } from '../support/redis.ts';
import { testSecretsAlone } from '../support/secrets.ts';

describe('a database with defaults of its own', () => {
    let database: TestDatabase;
    let db: Db;

    before(async () => {
        database = await createEmptyDatabase();
        const own = openDb({ url: database.url });
        const name = new URL(database.url).pathname.slice(1);
        await own.raw('create schema registry');
        for (const setting of ['search_path = registry', "datestyle = 'SQL, DMY'", "timezone = 'Europe/Istanbul'"])
            await own.raw(`alter database ${name} set ${setting}`);
        await own.destroy();
        await migrateAll(database.url);
        db = openDb({ url: database.url });
    });
    after(async () => {
        await db?.destroy();
        await database?.drop();
    });

    it('has our tables in its schema, and serves jobs without Redis', async () => {
        const inPublic = await db.from('pg_tables').where({ schemaname: 'public' }).select('tablename');
        expect(inPublic).to.deep.equal([]);
        const [api, worker] = (['api', 'worker'] as const).map((role) =>
            openQueue({ databaseUrl: database.url, keyPrefix: uniquePrefix(), secrets: testSecretsAlone(), role, log: silent }),
        );
        try {
            await eventually('it is connected', async () => api !== undefined && (await isUp(api)));
            worker?.consume(async () => success(), { concurrency: 1 });
            expect(await api?.run(aJob())).to.include({ ok: true });
        } finally {
            await worker?.close();
            await api?.close();
        }
    });

    it('gives the same times, whatever style and zone it shows them in', async () => {
        const { rows } = await db.raw<{ rows: { at: Date }[] }>("select timestamptz '2026-03-04 05:06:07Z' as at");
        expect(rows[0]?.at.toISOString()).to.equal('2026-03-04T05:06:07.000Z');
    });
});
