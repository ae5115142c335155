import { expect } from 'chai';
import pg from 'pg';
import { openMetricsServer } from '../../shared/health/metrics-server.ts';
import { startRedis } from '../queue/redis-server.ts';
import { openLink } from '../store/link.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { type Answer, join, stranger } from '../support/people.ts';
import { createEmptyDatabase, createTestDatabase } from '../support/postgres.ts';
import { startProcess } from '../support/processes.ts';
import { codeOf, dataOf } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { openWorld, TOPOLOGIES, type World } from '../support/world.ts';

/** The states of the checks, in the order database, queue, workers. */
const checksOf = ({ body }: Answer) => {
    const { checks } = body['data'] as { checks: Record<'database' | 'queue' | 'workers', string> };
    return `${checks.database} ${checks.queue} ${checks.workers}`;
};
const ask = (world: World) => stranger(world).call('GET', '/v1/health');
const statusOf = ({ body }: Answer) => (body['data'] as { status: string }).status;

for (const topology of TOPOLOGIES) {
    describe(`health, over ${topology}`, () => {
        it('is 503 with the checks while there are no workers, and ok as soon as one runs', async () => {
            const alone = await openWorld({ topology, workers: 0 });
            try {
                const answer = await ask(alone);
                expect([answer.status, codeOf(answer)]).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
                expect(answer.body['data']).to.deep.equal({
                    status: 'unavailable',
                    version: (answer.body['data'] as { version: string }).version,
                    checks: { database: 'ok', queue: 'ok', workers: 'down' },
                });
                expect((await stranger(alone).call('GET', '/v1/categories')).status).to.equal(200);
            } finally {
                await alone.close();
            }
            const staffed = await openWorld({ topology, workers: 1 });
            try {
                const health = dataOf(await ask(staffed));
                expect(health).to.deep.include({ status: 'ok', checks: { database: 'ok', queue: 'ok', workers: 'ok' } });
            } finally {
                await staffed.close();
            }
        });

        it('does not count a worker that sends heartbeats but takes no jobs', async () => {
            const world = await openWorld({ topology, workers: 0 });
            try {
                const report = (ageMs: number) =>
                    world.app.fleet.report({ id: 'worker_1', slots: 8, busy: 1, progressAt: Date.now() - ageMs });
                await report(3000);
                expect(checksOf(await ask(world))).to.equal('ok ok ok');
                await report(11_000);
                expect(checksOf(await ask(world))).to.equal('ok ok down');
            } finally {
                await world.close();
            }
        });

        it('is degraded while some workers take no jobs and others do', async () => {
            const world = await openWorld({ topology, workers: 1 });
            try {
                const report = (ageMs: number) =>
                    world.app.fleet.report({ id: 'worker_stuck', slots: 8, busy: 8, progressAt: Date.now() - ageMs });
                await report(11_000);
                const answer = await ask(world);
                expect([answer.status, statusOf(answer), checksOf(answer)]).to.deep.equal([200, 'degraded', 'ok ok ok']);
                await report(0);
                expect(statusOf(await ask(world))).to.equal('ok');
            } finally {
                await world.close();
            }
        });

        it('reports within a second that the database is down, and that it is back', async () => {
            const world = await openWorld({ topology, acquireTimeoutMs: 1000 });
            try {
                expect((await ask(world)).status).to.equal(200);
                await authorize(world, false);
                const began = performance.now();
                const answer = await ask(world);
                expect(performance.now() - began).to.be.below(5000);
                expect([answer.status, codeOf(answer), statusOf(answer)]).to.deep.equal([503, 'SERVICE_UNAVAILABLE', 'unavailable']);
                expect(checksOf(answer)).to.match(topology === 'redis' ? /^down ok ok$/ : /^down down down$/);
                expect(answer.headers.get('retry-after')).to.equal('1');
                expect(JSON.stringify(answer.body)).not.to.match(/postgres:|password|127\.0\.0\.1|rb_[0-9a-f]{12}/);
                expect((await stranger(world).call('GET', '/v1/categories')).status).to.equal(200);
                expect(codeOf(await stranger(world).call('GET', '/v1/schemas/shop.test'))).to.equal('SERVICE_UNAVAILABLE');
                await authorize(world, true);
                await eventually(
                    () => ask(world),
                    ({ status }) => status === 200,
                    20_000,
                );
            } finally {
                await authorize(world, true);
                await world.close();
            }
        });

        it('reports a database that is not migrated yet as down, and no call ends as a bug', async () => {
            const world = await openWorld({ topology });
            const rename = (from: string, to: string) => world.app.db.raw(`alter schema ${from} rename to ${to}`);
            const probe = async () => (await stranger(world).call('GET', '/readyz')).status;
            try {
                const caller = await join(world);
                expect(await probe()).to.equal(200);
                await rename('public', 'migrated');
                expect(await probe()).to.equal(503);
                const answer = await ask(world);
                expect([answer.status, statusOf(answer), checksOf(answer).split(' ')[0]]).to.deep.equal([503, 'unavailable', 'down']);
                for (const path of ['/v1/schemas', '/v1/schemas/shop.test', '/v1/trending'])
                    expect(codeOf(await stranger(world).call('GET', path)), path).to.equal('SERVICE_UNAVAILABLE');
                expect(codeOf(await caller.fetch('shop.test', 'product', { id: 1 }))).to.equal('SERVICE_UNAVAILABLE');
                expect(world.logged.map(({ message }) => message)).to.include('the database is not up to date: run npm run migrate');
                await rename('migrated', 'public');
                expect(await probe()).to.equal(200);
            } finally {
                await rename('migrated', 'public').catch(() => {});
                await world.close();
            }
        });

        it('reports a database of an earlier release as down, and a call that needs what it lacks says so in the log', async () => {
            const world = await openWorld({ topology });
            const probe = async () => (await stranger(world).call('GET', '/readyz')).status;
            const newest = await world.app.db('migrations').orderBy('name', 'desc').first();
            try {
                await world.app.db('migrations').where({ name: newest.name }).delete();
                expect(await probe()).to.equal(503);
                const answer = await ask(world);
                expect([answer.status, checksOf(answer).split(' ')[0]]).to.deep.equal([503, 'down']);
                await world.app.db.raw('alter table sites rename column title to title_before');
                expect(codeOf(await stranger(world).call('GET', '/v1/schemas/shop.test'))).to.equal('SERVICE_UNAVAILABLE');
                expect(world.logged.map(({ message }) => message)).to.include('the database is not up to date: run npm run migrate');
                await world.app.db('migrations').insert(newest);
                expect(await probe()).to.equal(200);
            } finally {
                await world.close();
            }
        });

        it('answers 500 and logs a bug if a call needs what no migration made', async () => {
            const world = await openWorld({ topology });
            try {
                await world.app.db.raw('alter table sites rename column title to title_before');
                expect((await fetch(`${world.base}/v1/schemas/shop.test`)).status).to.equal(500);
                const messages = world.logged.map(({ message }) => message);
                expect(messages).to.include('a bug: unexpected error while answering');
                expect(messages).not.to.include('the database is not up to date: run npm run migrate');
            } finally {
                await world.close();
            }
        });
    });
}

describe('an API and a worker that do not reach their database', () => {
    for (const name of ['api', 'worker'] as const) {
        it(`${name}: says so in its log when it starts, with the reason, and when that is over`, async () => {
            const database = await createTestDatabase();
            const link = await openLink(database.url);
            link.cut();
            const running = startProcess(name, { DATABASE_URL: link.url, PORT: '0', HOST: '127.0.0.1', LOG_LEVEL: 'warn' });
            try {
                expect(JSON.parse(await running.said('database: does not work at the moment')).err.message).to.match(/\w/);
                link.restore();
                await running.said('database: works again');
            } finally {
                await running.end('SIGKILL');
                await link.close();
                await database.drop();
            }
        });
    }
});

describe('an API and a worker of a release whose migrations have not run', () => {
    for (const name of ['api', 'worker'] as const) {
        it(`${name}: names the command when it starts`, async () => {
            const database = await createEmptyDatabase();
            const running = startProcess(name, { DATABASE_URL: database.url, PORT: '0', HOST: '127.0.0.1', LOG_LEVEL: 'error' });
            try {
                await running.said('the database is not up to date: run npm run migrate');
            } finally {
                await running.end('SIGKILL');
                await database.drop();
            }
        });
    }
});

describe('a worker’s METRICS_PORT', () => {
    it('answers /livez and /readyz like an API: the process, and the database while it takes calls', async () => {
        const world = await openWorld();
        const metricsPort = await freePort();
        let draining = false;
        const app = { ...world.app, config: { ...world.app.config, metricsPort }, isDraining: () => draining };
        let hasStarted = false;
        const server = await openMetricsServer(app, () => hasStarted);
        const probe = async (path: string) => (await fetch(`http://127.0.0.1:${metricsPort}${path}`)).status;
        try {
            expect([await probe('/livez'), await probe('/readyz')], 'before it takes calls').to.deep.equal([200, 503]);
            hasStarted = true;
            expect([await probe('/livez'), await probe('/readyz'), await probe('/metrics')]).to.deep.equal([200, 200, 200]);
            expect(await probe('/constructor')).to.equal(404);
            draining = true;
            expect([await probe('/livez'), await probe('/readyz')], 'shutting down').to.deep.equal([200, 503]);
            draining = false;
            await authorize(world, false);
            expect([await probe('/livez'), await probe('/readyz')], 'without a database').to.deep.equal([200, 503]);
            await authorize(world, true);
            await eventually(
                () => probe('/readyz'),
                (status) => status === 200,
                20_000,
            );
        } finally {
            await authorize(world, true);
            await server.close();
            await world.close();
        }
    });
});

if (TOPOLOGIES.includes('redis')) {
    describe('health without Redis', () => {
        it('reports queue and workers as unreachable; browsing still works, and fetches return with Redis', async () => {
            const redis = await startRedis();
            const world = await openWorld({ topology: 'redis', config: { redisUrl: redis.url } });
            try {
                const maker = await join(world);
                dataOf(await maker.publish(aPackage('shop.test')));
                expect((await ask(world)).status).to.equal(200);
                await redis.kill();
                const answer = await ask(world);
                expect([answer.status, checksOf(answer)]).to.deep.equal([503, 'ok down down']);
                expect((await stranger(world).call('GET', '/v1/schemas/shop.test')).status).to.equal(200);
                await redis.start();
                await eventually(
                    () => ask(world),
                    ({ status }) => status === 200,
                    20_000,
                );
            } finally {
                await world.close();
                await redis.remove();
            }
        });
    });
}

/** Allows or forbids connections to the database, and ends open ones. */
async function authorize(world: World, isOpen: boolean): Promise<void> {
    const url = new URL(world.databaseUrl);
    const name = url.pathname.slice(1);
    url.pathname = '/postgres';
    const operator = new pg.Client({ connectionString: url.href });
    await operator.connect();
    try {
        await operator.query(`alter database ${name} with allow_connections ${isOpen}`);
        if (!isOpen) await operator.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
    } finally {
        await operator.end();
    }
}
