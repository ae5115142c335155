import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { migrateAll } from '../../shared/migrate.ts';
import { openDb } from '../../shared/platform/db.ts';
import * as accounts from '../../shared/store/accounts/accounts.ts';
import { type OwnRedis, startRedis } from '../queue/redis-server.ts';
import { type DebianPostgres, startDebianPostgres } from '../support/debian-postgres.ts';
import { startProcess } from '../support/processes.ts';
import { openShop, SHOP, type Shop, shopPackage } from '../support/shop.ts';
import { needs } from '../support/system-programs.ts';

const DOCS = fileURLToPath(new URL('../../docs/operations.md', import.meta.url));

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

    /** URL for a role of docs/operations.md. */
    function urlOf(role: string): string {
        const url = new URL(postgres.url('routebook'));
        [url.username, url.password] = [role, 'secret'];
        return url.href;
    }

    it('suffices for APIs and workers, and an owner without superuser for migrations', async () => {
        const page = readFileSync(DOCS, 'utf8');
        const statements = (/```sql\n(create role[^`]*)```/.exec(page)?.[1] ?? '').trim().split('\n');
        expect(statements).to.have.length(6);
        // The passwords of the page are left to the operator.
        for (const statement of statements.slice(0, 3)) await postgres.run(statement.replace('…', 'secret'));
        const owner = openDb({ url: urlOf('routebook_owner'), acquireTimeoutMs: 10_000 });
        for (const statement of statements.slice(3)) await owner.raw(statement);
        await migrateAll(urlOf('routebook_owner'));
        const made = await accounts.createAccount(owner, { email: 'ada@people.example', plan: 'enterprise', bonus: 1000 });
        await owner.destroy();
        const [refused] = [await problemOf('create table mine (id integer)')];
        expect(refused).to.match(/permission denied/);

        for (const store of [{ REDIS_URL: redis.url }, {}]) {
            const settings = {
                DATABASE_URL: urlOf('routebook_app'),
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
        const db = openDb({ url: urlOf('routebook_app'), acquireTimeoutMs: 10_000 });
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
