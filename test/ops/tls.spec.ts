import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { migrate } from '../../shared/migrate.ts';
import { openDb } from '../../shared/platform/db.ts';
import * as accounts from '../../shared/store/accounts/accounts.ts';
import { type DebianPostgres, startDebianPostgres } from '../support/debian-postgres.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { type Running, startProcess } from '../support/processes.ts';
import { startRedisWithSentinels } from '../support/redis-sentinels.ts';
import { openShop, SHOP, type Shop, shopPackage } from '../support/shop.ts';
import { needs } from '../support/system-programs.ts';

const PASSWORD = 'of-redis';

describe('stores with TLS, names and passwords', () => {
    const running: Running[] = [];
    const undo: (() => Promise<unknown>)[] = [];
    let folder = '';
    let postgres: DebianPostgres;
    let shop: Shop;

    before(async function () {
        needs(this, 'postgresql', 'redis', 'openssl');
        folder = mkdtempSync(join(tmpdir(), 'routebook-tls-'));
        undo.push(async () => rmSync(folder, { recursive: true, force: true }));
        await certify('server');
        await certify('stranger');
        const pem = (name: string) => readFileSync(join(folder, name), 'utf8');
        postgres = await startDebianPostgres({ tls: { key: pem('server.key'), certificate: pem('server.crt') } });
        undo.push(() => postgres.remove());
        await postgres.tool('createdb', ['routebook']);
        shop = await openShop();
        undo.push(() => shop.close());
    });

    after(async () => {
        for (const one of running) await one.end();
        for (const one of undo.toReversed()) await one();
    });

    /** A self-signed certificate for `localhost`. */
    async function certify(name: string): Promise<void> {
        await promisify(execFile)('openssl', [
            ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
            ...['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'],
            ...['-keyout', join(folder, `${name}.key`), '-out', join(folder, `${name}.crt`)],
        ]);
    }

    /** URL of the database for a client that checks certificate and name. */
    function verified(host: string, authority: string): string {
        const url = new URL(postgres.url('routebook'));
        url.hostname = host;
        url.searchParams.set('sslmode', 'verify-full');
        url.searchParams.set('sslrootcert', join(folder, `${authority}.crt`));
        return url.href;
    }

    /** Accepts only TLS, and only one user. */
    async function startTlsRedis(): Promise<string> {
        const port = await freePort();
        const server = spawn(
            'redis-server',
            [
                ...['--bind', '127.0.0.1', '--port', '0', '--tls-port', String(port), '--tls-auth-clients', 'no', '--dir', folder],
                ...['--tls-cert-file', join(folder, 'server.crt'), '--tls-key-file', join(folder, 'server.key')],
                ...['--tls-ca-cert-file', join(folder, 'server.crt'), '--maxmemory-policy', 'noeviction', '--save', ''],
                ...['--user', 'default', 'off', '--user', 'routebook', 'on', `>${PASSWORD}`, '~*', '&*', '+@all'],
            ],
            { stdio: 'ignore' },
        );
        undo.push(async () => {
            const gone = once(server, 'exit');
            server.kill('SIGKILL');
            await gone;
        });
        await eventually(
            () => isListening(port),
            (isUp) => isUp,
        );
        return `rediss://routebook:${PASSWORD}@localhost:${port}`;
    }

    async function isListening(port: number): Promise<boolean> {
        const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
        const opened = Promise.withResolvers<boolean>();
        socket.on('secureConnect', () => opened.resolve(true)).on('error', () => opened.resolve(false));
        const isUp = await opened.promise;
        socket.destroy();
        return isUp;
    }

    async function problemOf(url: string): Promise<string> {
        const db = openDb({ url });
        try {
            await db.raw('select 1');
            return 'none';
        } catch (error) {
            return String(error);
        } finally {
            await db.destroy();
        }
    }

    it('are refused with a certificate of another authority or another name', async () => {
        expect(await problemOf(verified('localhost', 'server'))).to.equal('none');
        expect(await problemOf(verified('localhost', 'stranger'))).to.match(/self-signed certificate/);
        expect(await problemOf(verified('127.0.0.1', 'server'))).to.match(/does not match certificate/);
    });

    it('are down, which is no bug, while their certificate is not accepted or they have no TLS', async () => {
        const plain = await startDebianPostgres();
        undo.push(() => plain.remove());
        for (const [url, reason] of [
            [verified('localhost', 'stranger'), 'self-signed certificate'],
            [`${plain.url('postgres')}?sslmode=verify-full`, 'The server does not support SSL connections'],
        ] as const) {
            const api = startProcess('api', { DATABASE_URL: url, HOST: '127.0.0.1', PORT: '0' });
            running.push(api);
            await api.said('database: does not work at the moment');
            const base = /http:\/\/[\w.:]+/.exec(await api.said('routebook ready on'))?.[0] ?? '';
            expect((await fetch(`${base}/v1/schemas`)).status).to.equal(503);
            const fault = await migrate(url).catch(String);
            expect(fault).to.include(`ConfigFault: DATABASE_URL: the database cannot be reached: ${reason}`);
        }
    });

    it('are found through Sentinels with TLS too', async () => {
        const sentinels = await startRedisWithSentinels({ key: join(folder, 'server.key'), certificate: join(folder, 'server.crt') });
        undo.push(() => sentinels.remove());
        const ping = `
            import { openRedis } from './shared/platform/redis.ts';
            const redis = openRedis(process.argv[1], 'worker', 'ping', console);
            console.log(await redis.ping());
            redis.disconnect();`;
        const run = (certificate: string) =>
            promisify(execFile)(process.execPath, ['--input-type=module-typescript', '-e', ping, sentinels.url], {
                env: { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, certificate) },
                timeout: 5000,
            }).then(
                ({ stdout }) => stdout.trim(),
                ({ stdout, stderr }) => `${stdout}${stderr}`,
            );
        expect(await run('server.crt')).to.equal('PONG');
        expect(await run('stranger.crt'))
            .to.match(/sentinels are unreachable/)
            .and.not.match(/PONG/);
    });

    it('serve a fetch, with every connection to PostgreSQL encrypted', async () => {
        const DATABASE_URL = verified('localhost', 'server');
        await migrate(DATABASE_URL);
        const settings = {
            DATABASE_URL,
            REDIS_URL: await startTlsRedis(),
            NODE_EXTRA_CA_CERTS: join(folder, 'server.crt'),
            HOST: '127.0.0.1',
            PORT: '0',
            EGRESS_ALLOW: '127.0.0.0/8',
            EGRESS_HOSTS: `${SHOP}=127.0.0.1`,
        };
        const [api, worker] = [startProcess('api', settings), startProcess('worker', settings)];
        running.push(api, worker);
        await worker.said('the worker takes jobs');
        const base = /http:\/\/[\w.:]+/.exec(await api.said('routebook ready on'))?.[0] ?? '';
        const db = openDb({ url: DATABASE_URL });
        undo.push(() => db.destroy());
        const made = await accounts.createAccount(db, { email: 'ada@people.example', plan: 'enterprise', bonus: 1000 });
        const post = (path: string, body: object) =>
            fetch(`${base}${path}`, {
                method: 'POST',
                headers: { 'content-type': 'application/json', authorization: `Bearer ${made.apiKey}` },
                body: JSON.stringify(body),
            });
        expect((await post('/v1/schemas', shopPackage(shop.port))).status).to.equal(201);
        expect((await post('/v1/fetch', { site: SHOP, endpoint: 'product', params: { id: 1 } })).status).to.equal(200);
        const { rows } = await db.raw(
            `select bool_and(s.ssl) as encrypted, count(*) > 2 as several
             from pg_stat_ssl s join pg_stat_activity a using (pid) where a.application_name like 'routebook%'`,
        );
        expect(rows).to.deep.equal([{ encrypted: true, several: true }]);
        shop.letGo();
    });
});
