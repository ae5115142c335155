import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { networkInterfaces, platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { limitIdentity } from '../api/admission/client-address.ts';
import { makeDataDir } from '../bin/data-dir.ts';
import { baseUrl } from '../bin/demo/base-url.ts';
import { ANONYMOUS } from '../shared/domain/accounts/plans.ts';
import { type Config, readConfig } from '../shared/platform/config.ts';
import { listenFault } from '../shared/platform/listen-fault.ts';
import { ConfigFault } from '../shared/platform/settings-reader.ts';
import { freePort } from './support/free-port.ts';
import { ownEnvironment } from './support/own-environment.ts';
import { createTestDatabase, type TestDatabase } from './support/postgres.ts';
import { startProcess } from './support/processes.ts';
import { needs } from './support/system-programs.ts';
import { openWorld } from './support/world.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Invalid values of each setting. */
const WRONG: Readonly<Record<string, readonly string[]>> = {
    PUBLIC_URL: [
        'routebook.example',
        'ftp://routebook.example',
        'http://',
        'https://exa mple',
        'https://h:99999',
        'https:///routebook.example',
        'https:routebook.example',
        'https://h.example/?a=1#x',
        'https://h.example?',
        'https://h.example/#',
        'https://user@h.example',
        'https://user:password@h.example/path',
        'https://h.example/a b',
    ],
    HOST: ['[::1]', 'a b', 'a/b', 'fe80::1%eth0', 'under_score', '-a', 'http://localhost', '999.1.1.1', 'a'.repeat(64)],
    DATABASE_URL: ['mysql://db.example/routebook', 'postgresql://db.example:port/routebook', 'db.example'],
    REDIS_URL: [
        ...['redis://', 'redis:///0', 'redis://cache:99999', '127.0.0.1:6379'],
        ...['redis+sentinel://', 'redis+sentinel://h1', 'redis+sentinel://h1/', 'redis+sentinel:///name', 'redis+sentinel://h1,,h2/name'],
        ...['redis+sentinel://h1:0/name', 'redis+sentinel://h1:99999/name', 'redis+sentinel://h 1/name', 'redis+sentinel://[::g]/name'],
        ...[
            'redis+sentinel://user:%zz@h1/name',
            'redis+sentinel://h1/name/db',
            'redis+sentinel://h1/name?role=slave',
            'sentinel://h1/name',
        ],
    ],
    SMTP_URL: ['smtp://', 'smtp://mail:abc', 'smtps://mail server', 'mail.example'],
    MAIL_FROM: ['@', 'hello', 'hello@', 'Routebook <@>', 'Routebook <hello@routebook.example', 'a@b.example, c@d.example'],
    EGRESS_PROXY_URL: ['http://proxy:port', 'http://', 'proxy.example:3128'],
    RESERVED_DOMAINS: ['/nowhere/at-all', '/'],
    EGRESS_HOSTS: ['a=1.2.3.4=5', 'a', 'a=', '=1.2.3.4', 'a=b.example'],
    CLAIM_RESOLVERS: ['192.0.2.53', 'dns.example:53', '192.0.2.53:0', '192.0.2.53:99999', '2001:db8::53:53', '[192.0.2.53]:53'],
    EMBEDDINGS_URL: ['models.example/v1', 'ftp://models.example', 'https://'],
    EMBEDDINGS_MODEL: ['a model'],
    EMBEDDINGS_KEY: ['a key'],
    EMBEDDINGS_PER_MINUTE: ['-1', 'many'],
    OTEL_EXPORTER_OTLP_ENDPOINT: ['http://collector example:4318', 'collector:4318'],
};

/** Valid values, and how each is read. */
const RIGHT: readonly (readonly [name: string, value: string, read: (config: Config) => unknown, expected?: string])[] = [
    ['PUBLIC_URL', 'https://routebook.example', ({ publicUrl }) => publicUrl],
    ['PUBLIC_URL', 'http://[::1]:8080/', ({ publicUrl }) => publicUrl, 'http://[::1]:8080'],
    ['PUBLIC_URL', 'https://h.example/routes/@us/', ({ publicUrl }) => publicUrl, 'https://h.example/routes/@us'],
    ['HOST', '::1', ({ host }) => host],
    ['HOST', 'db-1.internal', ({ host }) => host],
    ['DATABASE_URL', 'postgresql://user:pass@db.example:5432/routebook?sslmode=require', ({ databaseUrl }) => databaseUrl],
    ['DATABASE_URL', 'postgresql://user@/name?host=/run/postgresql', ({ databaseUrl }) => databaseUrl],
    ['DATABASE_URL', 'postgresql:///name?host=/run/postgresql', ({ databaseUrl }) => databaseUrl],
    ['DATABASE_URL', 'postgres://%2Frun%2Fpostgresql/name', ({ databaseUrl }) => databaseUrl],
    ['REDIS_URL', 'rediss://:password@cache.example:6380/1', ({ redisUrl }) => redisUrl],
    ['REDIS_URL', 'redis+sentinel://h1,h2/name', ({ redisUrl }) => redisUrl],
    ['REDIS_URL', 'rediss+sentinel://user:p%40ss@10.0.0.1:26380,[::1]:26379/name/1?sentinel_password=x', ({ redisUrl }) => redisUrl],
    ['SMTP_URL', 'smtps://user:password@mail.example:465', ({ mail }) => mail.smtpUrl],
    ['MAIL_FROM', 'hello@routebook.example', ({ mail }) => mail.from],
    ['MAIL_FROM', 'routebook@localhost', ({ mail }) => mail.from],
    ['MAIL_FROM', '"Routebook" <hello@routebook.example>', ({ mail }) => mail.from],
    ['EGRESS_PROXY_URL', 'http://user:password@proxy:3128', ({ egressProxyUrl }) => egressProxyUrl],
    ['EGRESS_HOSTS', 'Shop.Example.=127.0.0.1', ({ egressHosts }) => [...egressHosts].join(), 'shop.example,127.0.0.1'],
    [
        'CLAIM_RESOLVERS',
        '192.0.2.53:53, [2001:db8::53]:5353',
        ({ claimResolvers }) => claimResolvers.join(),
        '192.0.2.53:53,[2001:db8::53]:5353',
    ],
    ['EGRESS_HOSTS', 'shop.example=[::1]', ({ egressHosts }) => [...egressHosts].join(), 'shop.example,::1'],
];

/** The error lines of a start with these settings. */
function faultsOf(settings: Record<string, string>): string[] {
    try {
        readConfig(settings);
        return [];
    } catch (error) {
        if (error instanceof ConfigFault) return error.lines;
        throw error;
    }
}

describe('a setting', () => {
    for (const [name, values] of Object.entries(WRONG)) {
        it(`${name} with an invalid value is reported before anything starts, in one line with the error and a valid example`, () => {
            for (const value of values) {
                const [line = '', ...more] = faultsOf({ [name]: value });
                expect(more, value).to.deep.equal([]);
                expect(line, value).to.match(new RegExp(`^${name}: must be .+; for example ${name}=.+$`));
                const example = line.slice(line.lastIndexOf(`${name}=`) + name.length + 1);
                expect(faultsOf({ [name]: example }), example).to.deep.equal([]);
            }
        });
    }

    it('with a valid value is read as expected', () => {
        for (const [name, value, read, expected = value] of RIGHT) expect(read(readConfig({ [name]: value })), name).to.equal(expected);
    });

    it('never appears with its password', () => {
        for (const name of [
            'DATABASE_URL',
            'DATABASE_REPLICA_URL',
            'REDIS_URL',
            'REDIS_QUEUE_URL',
            'REDIS_LIMITS_URL',
            'SMTP_URL',
            'EGRESS_PROXY_URL',
        ]) {
            expect(faultsOf({ [name]: 'http://user:pa55word@h:port' }).join(), name)
                .to.include(name)
                .and.not.include('pa55word');
        }
    });

    it('of a replica is reported without a primary, and if it is invalid', () => {
        const replica = { DATABASE_REPLICA_URL: 'postgresql://user:pass@replica.example:5432/routebook' };
        const primary = { DATABASE_URL: 'postgresql://user:pass@db.example:5432/routebook' };
        const example = 'for example DATABASE_URL=postgresql://user:password@db.example:5432/routebook';
        expect(faultsOf(replica)).to.deep.equal([`DATABASE_REPLICA_URL: needs DATABASE_URL, which it is a replica of; ${example}`]);
        expect(faultsOf({ ...replica, ...primary })).to.deep.equal([]);
        for (const wrong of ['mysql://db.example/routebook', 'replica.example']) {
            expect(faultsOf({ ...primary, DATABASE_REPLICA_URL: wrong }).join(), wrong).to.match(
                /^DATABASE_REPLICA_URL: must be .+; for example DATABASE_REPLICA_URL=postgresql:.+$/,
            );
        }
    });

    it('of one role of Redis is reported if the other role has none', () => {
        const queue = { REDIS_QUEUE_URL: 'redis://queue.example:6379' };
        const limits = { REDIS_LIMITS_URL: 'redis+sentinel://h1,h2/limits' };
        const both = { REDIS_URL: 'redis://both.example:6379' };
        const example = 'for example REDIS_URL=redis://127.0.0.1:6379';
        expect(faultsOf(queue)).to.deep.equal([
            `REDIS_QUEUE_URL: needs REDIS_URL, or REDIS_LIMITS_URL, for the other role of Redis; ${example}`,
        ]);
        expect(faultsOf(limits)).to.deep.equal([
            `REDIS_LIMITS_URL: needs REDIS_URL, or REDIS_QUEUE_URL, for the other role of Redis; ${example}`,
        ]);
        for (const settings of [{ ...queue, ...limits }, { ...queue, ...both }, { ...limits, ...both }, both]) {
            expect(faultsOf(settings), JSON.stringify(settings)).to.deep.equal([]);
        }
        for (const name of ['REDIS_QUEUE_URL', 'REDIS_LIMITS_URL']) {
            expect(faultsOf({ ...both, [name]: 'cache.example:6379' }).join(), name).to.match(
                new RegExp(`^${name}: must be a URL that begins with`),
            );
        }
    });

    it('of Stripe is reported in one line that names the missing ones and the given one', () => {
        expect(faultsOf({ STRIPE_SECRET_KEY: 'sk_test_1', STRIPE_PRICE_PRO: 'price_1' })).to.deep.equal([
            'STRIPE_WEBHOOK_SECRET, STRIPE_PRICE_STARTER: missing beside STRIPE_SECRET_KEY, STRIPE_PRICE_PRO; the four go together, all or none; for example STRIPE_WEBHOOK_SECRET=value',
        ]);
    });

    it('is reported together with every other wrong one', () => {
        const lines = faultsOf({ PORT: 'http', PUBLIC_URL: 'http://', SMTP_URL: 'smtp://mail:abc', MAIL_FROM: '@' });
        expect(lines.map((line) => line.split(':')[0])).to.deep.equal(['PORT', 'PUBLIC_URL', 'SMTP_URL', 'MAIL_FROM']);
    });
});

describe('a start with an unusable port, host or folder', () => {
    let database: TestDatabase;
    let folder: string;
    let others: Server[];
    let taken: string;
    let free: string;

    before(async () => {
        database = await createTestDatabase();
        folder = mkdtempSync(join(tmpdir(), 'routebook-settings-'));
        writeFileSync(join(folder, 'file'), '');
        // The next port is taken too, as by the demo shop of another server.
        const first = await freePort(4);
        taken = String(first);
        free = String(first + 2);
        others = [first, first + 1].map((port) => createServer().listen(port, '127.0.0.1'));
        await Promise.all(others.map((other) => once(other, 'listening')));
    });
    after(async () => {
        for (const other of others) other.close();
        await database.drop();
        rmSync(folder, { recursive: true, force: true });
    });

    /** The stderr output of a process that cannot start. */
    async function endOf(name: 'api' | 'worker' | 'start' | 'migrate', settings: Record<string, string>): Promise<string> {
        const usual = {
            ...ownEnvironment(),
            DATABASE_URL: database.url,
            HOST: '127.0.0.1',
            PORT: '0',
            DATA_DIR: folder,
            DEMO: 'false',
        };
        const ended = await run(process.execPath, [`bin/${name}.ts`], { cwd: ROOT, env: { ...usual, ...settings } }).catch(
            (error) => error,
        );
        expect(ended, `${name} with ${JSON.stringify(settings)}`).to.include({ code: 1 });
        return ended.stderr;
    }

    it('names PORT if it is in use, and suggests a free one', async () => {
        const message = `routebook: PORT: ${taken} is taken; for example PORT=${free}\n`;
        expect(await endOf('api', { PORT: taken })).to.equal(message);
    });

    it('names a taken port before a database is made', async () => {
        const dataDir = join(folder, 'first');
        const fresh = { DATABASE_URL: '', DATA_DIR: dataDir };
        expect(await endOf('start', { ...fresh, PORT: taken })).to.equal(`routebook: PORT: ${taken} is taken; for example PORT=${free}\n`);
        expect(await endOf('start', { ...fresh, METRICS_PORT: taken })).to.match(/^routebook: METRICS_PORT: /);
        expect(readdirSync(dataDir)).to.deep.equal([]);
    });

    it('names METRICS_PORT if it is in use', async () => {
        const message = `routebook: METRICS_PORT: ${taken} is taken; for example METRICS_PORT=${free}\n`;
        for (const name of ['worker', 'start'] as const) expect(await endOf(name, { METRICS_PORT: taken }), name).to.equal(message);
    });

    it('names DATABASE_URL if no database answers there', async () => {
        const message = 'routebook: DATABASE_URL: the database cannot be reached: connect ECONNREFUSED 127.0.0.1:1\n';
        const nowhere = { DATABASE_URL: 'postgresql://user:secret@127.0.0.1:1/routebook' };
        for (const name of ['migrate', 'start'] as const) expect(await endOf(name, nowhere), name).to.equal(message);
    });

    it('names a port that only root may use', async () => {
        const denied = Object.assign(new Error('listen EACCES'), { code: 'EACCES', syscall: 'listen' });
        const message = 'METRICS_PORT: this user may not listen on 80; for example METRICS_PORT=9464';
        expect(await listenFault(denied, { name: 'METRICS_PORT', port: 80 }))
            .to.be.instanceOf(ConfigFault)
            .with.property('message', message);
    });

    it('names HOST if it is no address of this machine', async () => {
        const message = 'routebook: HOST: must be a name or an address of this machine (EADDRNOTAVAIL); for example HOST=127.0.0.1\n';
        expect(await endOf('api', { HOST: '203.0.113.7' })).to.equal(message);
        // An unknown name would be looked up outside of this machine.
        const unknown = Object.assign(new Error('getaddrinfo ENOTFOUND nosuch.invalid'), { code: 'ENOTFOUND', syscall: 'getaddrinfo' });
        expect(await listenFault(unknown, { name: 'PORT', port: 8080 }))
            .to.be.instanceOf(ConfigFault)
            .with.property('message')
            .that.matches(/^HOST: /);
    });

    it('names DATA_DIR if it is not a folder, or below a file', () => {
        const file = join(folder, 'file');
        const nowhere = platform() === 'linux' ? ['/proc/routebook/below'] : [];
        for (const dataDir of [file, join(file, 'below'), ...nowhere]) {
            expect(() => makeDataDir({ dataDir, databaseUrl: database.url, demo: false, secretKeys: [] }), dataDir)
                .to.throw(ConfigFault)
                .with.property('message')
                .that.matches(/^DATA_DIR: \S+ is not a folder and cannot be created \([A-Z]+\); for example DATA_DIR=.data$/);
        }
    });

    it('names DATA_DIR if it is not writable, before anything starts', async () => {
        // File modes do not restrict root, which cannot write to /proc.
        const closed = process.getuid?.() === 0 ? '/proc' : join(folder, 'closed');
        if (!existsSync(closed)) mkdirSync(closed, { mode: 0o500 });
        const message = 'cannot be written \\([A-Z]+\\); for example DATA_DIR=.data';
        expect(await endOf('start', { DATA_DIR: closed, DATABASE_URL: '' })).to.match(
            new RegExp(`^routebook: DATA_DIR: \\S+ ${message}\n$`),
        );
        const demo = { dataDir: closed, databaseUrl: database.url, demo: true, secretKeys: [] };
        expect(() => makeDataDir(demo)).to.throw(ConfigFault, new RegExp(message));
    });
});

describe('an API without HOST', () => {
    it('listens on every address of this machine, and sees the address of each caller', async () => {
        const world = await openWorld({ workers: 0, config: { host: undefined } });
        const { port } = new URL(world.base);
        try {
            for (const address of loopbackAddresses()) {
                const base = `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
                expect((await fetch(`${base}/livez`)).status, base).to.equal(200);
                expect((await fetch(`${base}/metrics`)).status, `${base}/metrics`).to.equal(200);
                const counted = await fetch(`${base}/v1/catalog/none.test?intent=find+one+product+and+its+price`);
                expect(counted.status, base).to.equal(404);
                const { windows } = await world.app.limits.peek(`ip:${limitIdentity(address)}`, [ANONYMOUS], 'nobody');
                expect(windows[0]?.remaining, base).to.equal(ANONYMOUS.limit - 1);
            }
        } finally {
            await world.close();
        }
    });
});

describe('npm start with HOST', () => {
    it('prints a curl line that works unchanged', async function () {
        needs(this, 'curl');
        const database = await createTestDatabase();
        const folder = mkdtempSync(join(tmpdir(), 'routebook-host-'));
        // The last address is IPv6 if this machine has it. Linux has all of 127.0.0.0/8, other systems one address of it.
        const address = loopbackAddresses().at(-1) ?? '127.0.0.1';
        const HOST = address === '127.0.0.1' && platform() === 'linux' ? '127.0.0.2' : address;
        try {
            const settings = { HOST, PORT: '0', DATABASE_URL: database.url, DATA_DIR: folder, DEMO: 'true' };
            const started = startProcess('start', settings);
            await started.said('Ctrl-C stops everything');
            const line = await started.said('curl -s');
            const { stdout } = await run('/bin/sh', ['-c', line]).finally(() => started.end('SIGKILL'));
            expect(JSON.parse(stdout)).to.have.nested.property('data.items[0].title', 'Trail running shoes');
        } finally {
            await database.drop();
            rmSync(folder, { recursive: true, force: true });
        }
    });

    it('says which port the demo shop has, and which one it should have had', async () => {
        const database = await createTestDatabase();
        const folder = mkdtempSync(join(tmpdir(), 'routebook-demo-'));
        const port = await freePort(2);
        const other = createServer().listen(port + 1, '127.0.0.1');
        try {
            await once(other, 'listening');
            const settings = { HOST: '127.0.0.1', PORT: String(port), DATABASE_URL: database.url, DATA_DIR: folder, DEMO: 'true' };
            const started = startProcess('start', settings);
            const line = await started.said('demo shop ready on port').finally(() => started.end('SIGKILL'));
            expect(line).to.match(
                new RegExp(`on port (\\d+) of this machine \\(${port + 1} is taken: use \\1 where the guides say ${port + 1}\\)`),
            );
        } finally {
            other.close();
            await database.drop();
            rmSync(folder, { recursive: true, force: true });
        }
    });

    it('says localhost if HOST is unset or means every interface', () => {
        for (const host of [undefined, '0.0.0.0', '0', '::', '::0', '0:0:0:0:0:0:0:0', 'localhost']) {
            expect(baseUrl(host, 8080), host).to.equal('http://localhost:8080');
        }
        expect(baseUrl('shop.internal', 80)).to.equal('http://shop.internal:80');
        expect(baseUrl('2001:db8::1', 80)).to.equal('http://[2001:db8::1]:80');
    });
});

function loopbackAddresses(): string[] {
    const own = Object.values(networkInterfaces()).flatMap((found = []) => found.map(({ address }) => address));
    return ['127.0.0.1', '::1'].filter((address) => own.includes(address));
}
