import { expect } from 'chai';
import { migrateAll } from '../../shared/migrate.ts';
import { openDb } from '../../shared/platform/db.ts';
import * as accounts from '../../shared/store/accounts/accounts.ts';
import { type OwnRedis, startRedis } from '../queue/redis-server.ts';
import { type DebianPostgres, startDebianPostgres } from '../support/debian-postgres.ts';
import { startProcess } from '../support/processes.ts';
import { openShop, SHOP, type Shop, shopPackage } from '../support/shop.ts';
import { needs } from '../support/system-programs.ts';

describe('a role that only reads and writes rows', () => {
    let postgres: DebianPostgres;
    let redis: OwnRedis;
    let shop: Shop;

    before(async function () {
        needs(this, 'postgresql', 'redis');
        [postgres, redis, shop] = await Promise.all([startDebianPostgres(), startRedis(), openShop()]);
    });

    after(async () => {
        await shop?.close();
        await redis?.remove();
        await postgres?.remove();
    });

    /** URL for a role with a password of its own. */
    function urlOf(role: string): string {
        const url = new URL(postgres.url('routebook'));
        [url.username, url.password] = [role, role];
        return url.href;
    }

    it('suffices for APIs and workers, and an owner without superuser for migrations', async () => {
        await postgres.run("create role owner login password 'owner'");
        await postgres.run("create role app login password 'app'");
        await postgres.run('create database routebook owner owner');
        await migrateAll(urlOf('owner'));
        const owner = openDb({ url: urlOf('owner'), acquireTimeoutMs: 10_000 });
        const { rows: schemas } = await owner.raw(
            "select nspname as name from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'",
        );
        for (const { name } of schemas as { name: string }[]) {
            for (const right of [
                'usage on schema :name:',
                'select, insert, update, delete on all tables in schema :name:',
                'usage on all sequences in schema :name:',
            ]) {
                await owner.raw(`grant ${right} to app`, { name });
            }
        }
        const made = await accounts.createAccount(owner, { email: 'ada@people.example', plan: 'enterprise', bonus: 1000 });
        await owner.destroy();
        const [refused] = [await problemOf('create table mine (id integer)')];
        expect(refused).to.match(/permission denied/);

        for (const store of [{ REDIS_URL: redis.url }, {}]) {
            const settings = {
                DATABASE_URL: urlOf('app'),
                HOST: '127.0.0.1',
                PORT: '0',
                EGRESS_ALLOW: '127.0.0.0/8',
                EGRESS_HOSTS: `${SHOP}=127.0.0.1`,
                ...store,
            };
            const [api, worker] = [startProcess('api', settings), startProcess('worker', settings)];
            try {
                await worker.said('the worker takes jobs');
                const base = /http:\/\/[\w.:]+/.exec(await api.said('routebook ready on'))?.[0] ?? '';
                const post = (path: string, body: object) =>
                    fetch(`${base}${path}`, {
                        method: 'POST',
                        headers: { 'content-type': 'application/json', authorization: `Bearer ${made.apiKey}` },
                        body: JSON.stringify(body),
                    });
                expect((await post('/v1/schemas', shopPackage(shop.port))).status).to.be.oneOf([200, 201]);
                expect((await post('/v1/fetch', { site: SHOP, endpoint: 'product', params: { id: 1 } })).status).to.equal(200);
                for (const { output } of [api, worker]) expect(output()).not.to.match(/permission denied|must be owner/);
            } finally {
                await api.end();
                await worker.end();
            }
        }
    });

    async function problemOf(statement: string): Promise<string> {
        const db = openDb({ url: urlOf('app'), acquireTimeoutMs: 10_000 });
        try {
            await db.raw(statement);
            return 'none';
        } catch (error) {
            return String(error);
        } finally {
            await db.destroy();
        }
    }
});
