import { expect } from 'chai';
import { type Db, openDb } from '../../shared/platform/db.ts';
import { eventually } from '../support/eventually.ts';
import { createEmptyDatabase, type TestDatabase } from '../support/postgres.ts';
import { openWorld } from '../support/world.ts';

describe('an unused connection', () => {
    let database: TestDatabase;
    const pools: Db[] = [];
    before(async () => {
        database = await createEmptyDatabase();
    });
    after(async () => {
        for (const pool of pools) await pool.destroy();
        await database.drop();
    });

    const open = async (name: string, options: { idleMs?: number }) => {
        const pool = openDb({ url: database.url, name, ...options });
        pools.push(pool);
        await pool.raw('select 1');
        return pool;
    };

    it('is closed after the time of its pool', async () => {
        const kept = await open('kept', { idleMs: 300_000 });
        await open('closed', { idleMs: 50 });
        const namesOpen = (): Promise<string[]> =>
            kept('pg_stat_activity').whereIn('application_name', ['kept', 'closed']).pluck('application_name');
        await eventually(namesOpen, (names) => !names.includes('closed'));
        expect(await namesOpen()).to.deep.equal(['kept']);
    });

    it('for browsing stays for five minutes, because a new one plans all statements again, and others for half a minute', async () => {
        const world = await openWorld({ workers: 0 });
        try {
            const idleMs = (pool: Db): number => pool.client.config.pool.idleTimeoutMillis;
            expect([idleMs(world.app.browse), idleMs(world.app.db)]).to.deep.equal([300_000, 30_000]);
        } finally {
            await world.close();
        }
    });
});
