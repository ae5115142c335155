import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { openDb } from '../../shared/platform/db.ts';
import * as accounts from '../../shared/store/accounts/accounts.ts';
import { type OwnRedis, startRedis } from '../queue/redis-server.ts';
import { type DebianPostgres, startDebianPostgres } from '../support/debian-postgres.ts';
import { eventually, patienceFor } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { ownEnvironment } from '../support/own-environment.ts';
import { startPgBouncer } from '../support/pgbouncer.ts';
import { type Running, startProcess } from '../support/processes.ts';
import { openShop, SHOP, type Shop, shopPackage } from '../support/shop.ts';
import { needs } from '../support/system-programs.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

describe('Debian’s PostgreSQL behind PgBouncer in transaction mode', () => {
    let postgres: DebianPostgres;
    let pooler: Awaited<ReturnType<typeof startPgBouncer>>;
    let poolerPort = 0;
    let redis: OwnRedis;
    let shop: Shop;
    const running: Running[] = [];
    let base = '';
    let made: Awaited<ReturnType<typeof accounts.createAccount>>;
    const admin = async (databaseUrl: string, ...command: string[]) => {
        const { stdout } = await promisify(execFile)(process.execPath, ['bin/admin.ts', ...command, '--json'], {
            cwd: ROOT,
            env: { ...ownEnvironment(), DATABASE_URL: databaseUrl },
        });
        return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    };
    const fetchProduct = async (id: number, at = base) => {
        const response = await fetch(`${at}/v1/fetch`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', authorization: `Bearer ${made.apiKey}` },
            body: JSON.stringify({ site: SHOP, endpoint: 'product', params: { id } }),
        });
        return { status: response.status, body: (await response.json()) as { meta: { credits_remaining: number } } };
    };

    /** Retries if the machine is too busy, like clients do. */
    const serveProduct = async (id: number) => {
        for (;;) {
            const answer = await fetchProduct(id);
            if (answer.status !== 503) return answer;
        }
    };

    before(async function () {
        needs(this, 'pgbouncer', 'postgresql', 'redis');
        [postgres, redis, shop] = await Promise.all([startDebianPostgres(), startRedis(), openShop()]);
        await postgres.tool('createdb', ['routebook']);
        poolerPort = await freePort();
        pooler = await startPgBouncer(postgres, poolerPort);
        const pooled = postgres.url('routebook').replace(`:${postgres.port}/`, `:${poolerPort}/`);
        const settings = {
            DATABASE_URL: pooled,
            REDIS_URL: redis.url,
            HOST: '127.0.0.1',
            PORT: '0',
            EGRESS_ALLOW: '127.0.0.0/8',
            EGRESS_HOSTS: `${SHOP}=127.0.0.1`,
        };
        await promisify(execFile)(process.execPath, ['bin/migrate.ts'], {
            cwd: ROOT,
            env: { ...ownEnvironment(), DATABASE_URL: postgres.url('routebook') },
        });
        for (const name of ['api', 'worker', 'worker'] as const) running.push(startProcess(name, settings));
        for (const [index, one] of running.entries()) await one.said(index === 0 ? 'routebook ready on' : 'the worker takes jobs');
        base = /http:\/\/[\w.:]+/.exec((await running[0]?.said('routebook ready on')) ?? '')?.[0] ?? '';
        const db = openDb({ url: pooled, acquireTimeoutMs: 10_000 });
        made = await accounts.createAccount(db, {
            email: 'ada@people.example',
            plan: 'enterprise',
            bonus: 1000,
            overrides: { perMinute: 100_000, perHour: 100_000, perDay: 100_000, concurrency: 100 },
        });
        await db.destroy();
        const published = await fetch(`${base}/v1/schemas`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', authorization: `Bearer ${made.apiKey}` },
            body: JSON.stringify(shopPackage(shop.port)),
        });
        expect(published.status).to.equal(201);
    });

    after(async () => {
        shop?.letGo();
        for (const one of running) await one.end('SIGTERM');
        await pooler?.close();
        await shop?.close();
        await redis?.remove();
        await postgres?.remove();
    });

    it('bills each of 400 fetches, 50 at once, exactly', async () => {
        const first = await fetchProduct(1);
        const before = first.body.meta.credits_remaining;
        for (let round = 0; round < 8; round++) {
            const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => serveProduct(index + 1)));
            for (const { status } of answers) expect(status).to.equal(200);
        }
        expect((await fetchProduct(1)).body.meta.credits_remaining).to.equal(before - 401);
        expect(await admin(postgres.url('routebook'), 'ledger', 'check')).to.have.property('ok', true);
    });

    it('is backed up and restored with PostgreSQL’s own tools, and continues with the same accounts, schemas and credits', async () => {
        const folder = mkdtempSync(join(tmpdir(), 'routebook-backup-'));
        try {
            await postgres.tool('pg_dump', ['--format=custom', `--file=${folder}/backup`, 'routebook']);
            const { meta } = (await fetchProduct(2)).body;
            await postgres.tool('createdb', ['restored']);
            await postgres.tool('pg_restore', ['--exit-on-error', '--dbname=restored', `${folder}/backup`]);
            expect(await admin(postgres.url('restored'), 'ledger', 'check')).to.have.property('ok', true);
            const settings = { DATABASE_URL: postgres.url('restored'), HOST: '127.0.0.1', PORT: '0' };
            const api = startProcess('api', settings);
            try {
                const at = /http:\/\/[\w.:]+/.exec(await api.said('routebook ready on'))?.[0] ?? '';
                const account = await fetch(`${at}/v1/account`, { headers: { authorization: `Bearer ${made.apiKey}` } });
                const { data } = (await account.json()) as { data: { credits: { balance: number } } };
                // The backup was taken before the last fetch was charged.
                expect(data.credits.balance).to.equal(meta.credits_remaining + 1);
                expect((await fetch(`${at}/v1/schemas/${SHOP}`)).status).to.equal(200);
            } finally {
                await api.end('SIGTERM');
            }
        } finally {
            rmSync(folder, { recursive: true, force: true });
        }
    });

    it('lets callers wait a second at most while the pooler is down, and serves them when it is up', async () => {
        await pooler.close();
        const began = performance.now();
        const refused = await fetchProduct(3);
        expect(refused.status).to.equal(503);
        expect(performance.now() - began).to.be.below(patienceFor(2500));
        pooler = await startPgBouncer(postgres, poolerPort);
        await eventually(
            async () => (await fetchProduct(3)).status,
            (status) => status === 200,
            10_000,
        );
    });
});
