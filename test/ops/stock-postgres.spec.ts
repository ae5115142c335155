import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { type Db, openDb } from '../../shared/platform/db.ts';
import * as accounts from '../../shared/store/accounts/accounts.ts';
import { setAccountCap } from '../../shared/store/credits/spending.ts';
import { type OwnRedis, startRedis } from '../queue/redis-server.ts';
import { type DebianPostgres, startDebianPostgres } from '../support/debian-postgres.ts';
import { type Running, startProcess } from '../support/processes.ts';
import { openShop, SHOP, type Shop, shopPackage } from '../support/shop.ts';
import { needs } from '../support/system-programs.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

for (const hasRedis of [true, false]) {
    describe(`a fetch on Debian’s PostgreSQL, ${hasRedis ? 'with' : 'without'} Redis`, () => {
        let postgres: DebianPostgres;
        let redis: OwnRedis | undefined;
        let shop: Shop;
        let db: Db;
        let base = '';
        let made: Awaited<ReturnType<typeof accounts.createAccount>>;
        const running: Running[] = [];

        before(async function () {
            needs(this, 'postgresql', ...(hasRedis ? ['redis'] : []));
            postgres = await startDebianPostgres({
                settings: ['shared_preload_libraries=pg_stat_statements', 'pg_stat_statements.track=all'],
            });
            [redis, shop] = [hasRedis ? await startRedis() : undefined, await openShop()];
            await postgres.tool('createdb', ['routebook']);
            const DATABASE_URL = postgres.url('routebook');
            await promisify(execFile)(process.execPath, ['bin/migrate.ts'], {
                cwd: ROOT,
                env: { PATH: process.env['PATH'], DATABASE_URL },
            });
            db = openDb({ url: DATABASE_URL, acquireTimeoutMs: 20_000 });
            await db.raw('create extension pg_stat_statements');
            const settings = {
                DATABASE_URL,
                ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
                HOST: '127.0.0.1',
                PORT: '0',
                EGRESS_ALLOW: '127.0.0.0/8',
                EGRESS_HOSTS: `${SHOP}=127.0.0.1`,
            };
            for (const name of ['api', 'worker'] as const) running.push(startProcess(name, settings));
            await running[1]?.said('the worker takes jobs');
            base = /http:\/\/[\w.:]+/.exec((await running[0]?.said('routebook ready on')) ?? '')?.[0] ?? '';
            made = await accounts.createAccount(db, { email: 'ada@people.example', plan: 'enterprise', bonus: 1000 });
            const published = await post('/v1/schemas', shopPackage(shop.port));
            expect(published.status).to.equal(201);
        });

        after(async () => {
            shop?.letGo();
            for (const one of running) await one.end();
            await db?.destroy();
            await shop?.close();
            await redis?.remove();
            await postgres?.remove();
        });

        function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
            const own = { 'content-type': 'application/json', authorization: `Bearer ${made.apiKey}` };
            return fetch(`${base}${path}`, { method: 'POST', headers: { ...own, ...headers }, body: JSON.stringify(body) });
        }

        async function callProduct(id: number, headers: Record<string, string> = {}): Promise<void> {
            expect((await post('/v1/fetch', { site: SHOP, endpoint: 'product', params: { id } }, headers)).status).to.equal(200);
        }

        it('has no statement that JIT compiles: alone or among others, with a key, and under a cap', async () => {
            expect((await db.raw('show jit')).rows).to.deep.equal([{ jit: 'on' }]);
            await db.raw('select pg_stat_statements_reset()');
            for (let id = 1; id <= 20; id++) await callProduct(id);
            for (let id = 1; id <= 10; id++) await callProduct(id, { 'idempotency-key': `key-${id}` });
            await Promise.all(Array.from({ length: 20 }, (_, id) => callProduct(id + 1)));
            await setAccountCap(db, made.workspaceId, 500);
            await db.raw('analyze');
            for (let id = 1; id <= 10; id++) await callProduct(id);
            const { rows: compiled } = await db.raw('select query, calls from pg_stat_statements where jit_functions > 0');
            expect(compiled).to.deep.equal([]);
            const { rows: moves } = await db.raw(
                "select sum(calls)::int as calls from pg_stat_statements where query like '%credits_move(%'",
            );
            expect(moves[0].calls).to.be.at.least(60);
            const { rows: caps } = await db.raw('select spent from day_spending');
            expect(caps).to.have.length(1);
        });
    });
}
