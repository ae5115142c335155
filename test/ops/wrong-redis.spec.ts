import { expect } from 'chai';
import { Redis } from 'ioredis';
import { type OwnRedis, startRedis } from '../queue/redis-server.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { startProcess } from '../support/processes.ts';
import { needs } from '../support/system-programs.ts';

describe('a process with the wrong Redis', () => {
    let redis: OwnRedis;
    let database: TestDatabase;

    before(async function () {
        needs(this, 'redis');
        [redis, database] = await Promise.all([startRedis(), createTestDatabase()]);
    });
    after(async () => {
        await redis?.remove();
        await database?.drop();
    });

    const start = (path = '') => startProcess('worker', { DATABASE_URL: database.url, REDIS_URL: `${redis.url}${path}` });

    it('does not start where the URL names a database that the server does not have, instead of using database 0', async () => {
        const worker = start('/99');
        const end = await worker.said('the worker takes jobs').catch(String);
        expect(end).to.include('ended with 1').and.include('REDIS_URL: this Redis has no database 99');
    });

    it('says that a full server would delete jobs and limits', async () => {
        const client = new Redis(redis.url);
        await client.config('SET', 'maxmemory-policy', 'allkeys-lru');
        client.disconnect();
        const worker = start();
        expect(await worker.said('maxmemory-policy allkeys-lru')).to.include('"level":"error"');
        await worker.end('SIGKILL');
    });
});
