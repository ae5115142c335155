import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import pg from 'pg';
import { openQueue, type Queue } from '../../shared/coordination/queue/queue.ts';
import type { FetchJob } from '../../shared/domain/fetch/fetch-job.ts';
import { openLink } from '../store/link.ts';
import { patienceFor, roomFor } from '../support/eventually.ts';
import { startRelay } from '../support/relay.ts';
import { testSecretsAlone } from '../support/secrets.ts';
import { startStopwatch } from '../support/stopwatch.ts';
import { startHalfDeafRelay } from './half-deaf-relay.ts';
import {
    aJob,
    dataOf,
    eventually,
    isUp,
    openQueueFixture,
    type Place,
    type QueueFixture,
    silent,
    success,
    topologies,
} from './queue-fixture.ts';
import { type OwnRedis, startRedis } from './redis-server.ts';

describe('a worker of the queue over postgres', () => {
    it('takes jobs once its database is up, even if it was down at the start', async () => {
        const fixture = await openQueueFixture('postgres');
        const link = await openLink(fixture.place.databaseUrl);
        link.cut();
        const said: string[] = [];
        const log = { ...silent, warn: (_: object, text: string) => void said.push(text) };
        const worker = openQueue({ ...fixture.place, databaseUrl: link.url, secrets: testSecretsAlone(), log, role: 'worker' });
        try {
            worker.consume(async () => success(), { concurrency: 2 });
            await eventually('it has noticed', () => said.length > 0);
            link.restore();
            const api = await openConnectedApi(fixture);
            expect((await api.run(aJob())).ok).to.equal(true);
        } finally {
            await worker.close();
            await link.close();
            await fixture.remove();
        }
    });
});

const WORKER = fileURLToPath(new URL('./worker-process.ts', import.meta.url));

for (const topology of topologies) {
    describe(`the queue over ${topology} when a worker dies`, () => {
        let fixture: QueueFixture;
        before(async () => {
            fixture = await openQueueFixture(topology);
        });
        afterEach(() => fixture.closeAll());
        after(() => fixture.remove());

        it('reports to the caller within seconds, never runs the job again, and serves the next one', async () => {
            const api = await openConnectedApi(fixture);
            const dying = await startWorkerProcess(fixture.place);
            const begun = performance.now();
            const outcome = api.run(aJob({ endpoint: 'hang' }, 60_000));
            await dying.taken;
            const ran: string[] = [];
            const survivor = fixture.openQueue('worker').consume(
                async (job) => {
                    ran.push(job.endpoint);
                    return success();
                },
                { concurrency: 8 },
            );
            await dying.kill();
            expect(await outcome).to.deep.equal({ ok: false, code: 'DEADLINE_EXCEEDED', lost: 'worker' });
            expect(performance.now() - begun).to.be.below(patienceFor(10_000));
            expect((await api.run(aJob({ endpoint: 'next' }))).ok).to.equal(true);
            expect(ran).to.deep.equal(['next']);
            await eventually('its slots are free', () => survivor.inFlight() === 0);
            expect(api.waiting()).to.equal(0);
        });

        it('lets the same read run once more, as another job', async () => {
            const api = await openConnectedApi(fixture);
            fixture.openQueue('worker').consume(async (job) => success({ run: String(job.run) }), { concurrency: 8 });
            const job = aJob();
            const [first, second] = await Promise.all([api.run(job), api.run({ ...job, run: 2 })]);
            expect(dataOf(first)?.['run']).to.equal('1');
            expect(dataOf(second)?.['run']).to.equal('2');
        });
    });
}

if (topologies.includes('redis')) {
    describe('the queue when Redis fails', () => {
        let redis: OwnRedis;
        let fixture: QueueFixture;
        beforeEach(async () => {
            redis = await startRedis();
            fixture = await openQueueFixture('redis', redis.url);
        });
        afterEach(async () => {
            await fixture.remove();
            await redis.remove();
        });

        it('delivers an outcome that was produced while Redis was down', async () => {
            const api = await openConnectedApi(fixture);
            const { started, gate } = consumeWithGate(fixture, success({ made: 'meanwhile' }));
            const outcome = api.run(aJob({}, 15_000));
            await started;
            await redis.kill();
            gate.resolve();
            await redis.start();
            expect(await outcome).to.deep.include({ ok: true, text: '{"made":"meanwhile"}' });
            expect(api.waiting()).to.equal(0);
        });

        it('serves a job that waited in the queue during the outage', async () => {
            const api = await openConnectedApi(fixture);
            const outcome = api.run(aJob({}, 15_000));
            await eventually('the job waits', async () => (await api.counts()).waiting === 1);
            await redis.kill();
            await redis.start();
            fixture.openQueue('worker').consume(async () => success(), { concurrency: 8 });
            expect((await outcome).ok).to.equal(true);
        });

        it('takes jobs once Redis is up, even if it was down when the worker started', async () => {
            await redis.kill();
            const said: string[] = [];
            const log = { ...silent, warn: (_: object, text: string) => void said.push(text) };
            const worker = openQueue({ ...fixture.place, secrets: testSecretsAlone(), log, role: 'worker' });
            worker.consume(async () => success(), { concurrency: 2 });
            await eventually('it has noticed', () => said.length > 0);
            await redis.start();
            const api = await openConnectedApi(fixture);
            expect((await api.run(aJob())).ok).to.equal(true);
            await worker.close();
        });

        it('stops while Redis is away, whether it was up before or not', async () => {
            for (const isUpBefore of [true, false]) {
                const worker = openQueue({ ...fixture.place, secrets: testSecretsAlone(), log: silent, role: 'worker' });
                worker.consume(async () => success(), { concurrency: 2 });
                if (isUpBefore) await eventually('it waits for a job', () => isAnyWaiting(redis.port));
                await redis.kill();
                await worker.close();
            }
        });

        it('refuses within 300 ms while Redis is down, and answers again within 2 s of its return', async () => {
            const api = await openConnectedApi(fixture);
            fixture.openQueue('worker').consume(async () => success(), { concurrency: 8 });
            expect((await api.run(aJob())).ok).to.equal(true);
            await redis.kill();
            await expectRefusedAtOnce(api);
            await redis.start();
            await eventually('a call succeeds', async () => (await api.run(aJob())).ok, 2000);
        });

        it('notices within 3 s that Redis is silent, refuses within 300 ms from then on, and answers again within 3 s of its return', async () => {
            const relay = await startRelay(redis.port);
            const place = { ...fixture.place, redisUrl: `redis://127.0.0.1:${relay.port}`, log: silent };
            const api = openQueue({ ...place, secrets: testSecretsAlone(), role: 'api' });
            const worker = openQueue({ ...place, secrets: testSecretsAlone(), role: 'worker' });
            await eventually('it is connected', () => isUp(api));
            worker.consume(async () => success(), { concurrency: 8 });
            expect((await api.run(aJob())).ok).to.equal(true);
            relay.silence();
            const began = performance.now();
            expect((await api.run(aJob())).ok).to.equal(false);
            expect(performance.now() - began).to.be.below(patienceFor(3000));
            await expectRefusedAtOnce(api);
            relay.speak();
            await eventually('a call succeeds', async () => (await api.run(aJob())).ok, 3000);
            await worker.close();
            await api.close();
            await relay.close();
        });

        for (const lost of ['waits', 'answers to waits'] as const) {
            it(`continues within seconds, with as many slots as before, if its Redis connection loses ${lost}`, async () => {
                const relay = await startHalfDeafRelay(redis.port);
                const api = await openConnectedApi(fixture);
                const worker = openQueue({
                    secrets: testSecretsAlone(),
                    ...fixture.place,
                    redisUrl: `redis://127.0.0.1:${relay.port}`,
                    log: silent,
                    role: 'worker',
                });
                let gate = Promise.withResolvers<void>();
                gate.resolve();
                const work = worker.consume(
                    async () => {
                        await gate.promise;
                        return success();
                    },
                    { concurrency: 2 },
                );
                expect((await api.run(aJob())).ok).to.equal(true);
                relay.lose(lost);
                for (let count = 0; count < 3; count++) {
                    const began = performance.now();
                    expect((await api.run(aJob())).ok).to.equal(true);
                    expect(performance.now() - began).to.be.below(patienceFor(5000));
                }
                gate = Promise.withResolvers<void>();
                const outcomes = Array.from({ length: 6 }, () => api.run(aJob({}, 20_000)));
                await eventually('its slots are full', () => work.inFlight() === 2);
                await eventually('the others wait', async () => (await api.counts()).waiting === 4);
                expect(await api.counts()).to.include({ active: 2, waiting: 4 });
                gate.resolve();
                expect((await Promise.all(outcomes)).every(({ ok }) => ok)).to.equal(true);
                relay.hear();
                await eventually('a call succeeds', async () => (await api.run(aJob({}, 2000))).ok);
                expect((await api.run(aJob())).ok).to.equal(true);
                await worker.close();
                await relay.close();
            });
        }

        /** A worker that works on one job until the gate opens, and took a second one whose reply from Redis was lost. */
        async function startDeafWorker() {
            const relay = await startHalfDeafRelay(redis.port);
            const api = await openConnectedApi(fixture);
            const worker = openQueue({
                ...fixture.place,
                secrets: testSecretsAlone(),
                redisUrl: `redis://127.0.0.1:${relay.port}`,
                log: silent,
                role: 'worker',
            });
            const gate = Promise.withResolvers<void>();
            const handled: string[] = [];
            const work = worker.consume(
                async ({ operation }) => {
                    handled.push(operation);
                    if (operation === 'op_running') await gate.promise;
                    return success();
                },
                { concurrency: 3 },
            );
            const running = api.run(aJob({ operation: 'op_running' }, 10_000));
            await eventually('it works', () => work.inFlight() === 1);
            await eventually('it waits for another', () => isAnyWaiting(redis.port));
            relay.lose('answers to questions');
            // A job whose worker seems dead fails after 5 s at the earliest.
            const lost = api.run(aJob({ operation: 'op_lost' }, 4500));
            await eventually('the job is taken', async () => (await api.counts()).active === 2);
            return { relay, api, worker, work, gate, handled, running, lost };
        }

        it('returns a job that it took without receiving it, when it stops', async () => {
            const { relay, worker, work, gate, handled, running, lost } = await startDeafWorker();
            fixture.openQueue('worker').consume(async () => success(), { concurrency: 2 });
            const stopped = worker.close();
            expect((await lost).ok).to.equal(true);
            expect(work.inFlight()).to.equal(1);
            gate.resolve();
            expect((await running).ok).to.equal(true);
            await stopped;
            expect(handled).to.deep.equal(['op_running']);
            await relay.close();
        });

        it('returns a job that it took without receiving it, when its connection is lost, and continues', async () => {
            const { relay, api, worker, gate, handled, running, lost } = await startDeafWorker();
            relay.hear();
            expect((await lost).ok).to.equal(true);
            expect((await api.run(aJob({ operation: 'op_next' }, 4500))).ok).to.equal(true);
            gate.resolve();
            expect((await running).ok).to.equal(true);
            expect(handled).to.deep.equal(['op_running', 'op_lost', 'op_next']);
            await worker.close();
            await relay.close();
        });

        it('keeps the job that it works on while it stops, also if it failed the job of a dead worker before', async () => {
            const api = await openConnectedApi(fixture);
            const client = new Redis(redis.url);
            const monitor = await client.monitor();
            try {
                const dead = api.run(aJob());
                await eventually('it waits', async () => (await api.counts()).waiting === 1);
                const [key = ''] = await client.keys(`*:op_*`);
                await client.hset(key, 'defa', 'job stalled more than allowable limit');
                const gate = Promise.withResolvers<void>();
                const handled: string[] = [];
                const work = async ({ operation }: FetchJob) => {
                    handled.push(operation);
                    await gate.promise;
                    return success();
                };
                const next = api.run(aJob({ operation: 'op_next' }));
                await eventually('both wait', async () => (await api.counts()).waiting === 2);
                const stopping = openQueue({ ...fixture.place, secrets: testSecretsAlone(), log: silent, role: 'worker' });
                // With one slot, the next job comes with the end of the previous one.
                const running = stopping.consume(work, { concurrency: 1 });
                expect((await dead).ok).to.equal(false);
                await eventually('it works on the next', () => running.inFlight() === 1);
                const givenBack = new Promise<void>((done) => {
                    monitor.on('monitor', (_time: string, words: string[]) => {
                        if (/^eval/i.test(words[0] ?? '') && words[2] === '3' && words[4]?.endsWith(':active')) done();
                    });
                });
                const stopped = stopping.close();
                await givenBack;
                expect(await api.counts()).to.include({ active: 1, waiting: 0 });
                gate.resolve();
                expect((await next).ok).to.equal(true);
                await stopped;
                expect(handled).to.deep.equal(['op_next']);
            } finally {
                monitor.disconnect();
                client.disconnect();
            }
        });

        it('reports to the caller that Redis was emptied and the job lost', async () => {
            const api = await openConnectedApi(fixture);
            const outcome = api.run(aJob({}, 15_000));
            await eventually('the job waits', async () => (await api.counts()).waiting === 1);
            await flush(redis.port);
            expect(await outcome).to.deep.include({ ok: false, lost: 'worker' });
        });

        it('starts before its Redis and works once that is up', async () => {
            await redis.kill();
            const api = fixture.openQueue('api');
            fixture.openQueue('worker').consume(async () => success(), { concurrency: 8 });
            await expectRefusedAtOnce(api);
            await redis.start();
            await eventually('a call succeeds', async () => (await api.run(aJob())).ok, 3000);
        });
    });
}

describe('the queue in PostgreSQL when connections break', () => {
    let fixture: QueueFixture;
    before(async () => {
        fixture = await openQueueFixture('postgres');
    });
    afterEach(() => fixture.closeAll());
    after(() => fixture.remove());

    it('delivers an outcome that came while nobody listened', async () => {
        const api = await openConnectedApi(fixture);
        const { started, gate } = consumeWithGate(fixture, success());
        const outcome = api.run(aJob());
        await started;
        expect(await breakConnections(fixture.place, 'routebook-postgres-replies')).to.equal(1);
        gate.resolve();
        expect((await outcome).ok).to.equal(true);
        expect(api.waiting()).to.equal(0);
    });

    it('continues after every connection was cut', async () => {
        const api = await openConnectedApi(fixture);
        fixture.openQueue('worker').consume(async () => success(), { concurrency: 8 });
        expect((await api.run(aJob())).ok).to.equal(true);
        await breakConnections(fixture.place, 'routebook-%');
        await eventually('a call succeeds', async () => (await api.run(aJob({}, 2000))).ok);
    });
});

async function openConnectedApi(fixture: QueueFixture): Promise<Queue> {
    const api = fixture.openQueue('api');
    await eventually('it is connected', () => isUp(api));
    return api;
}

/** A worker that ends its jobs with this outcome once the gate is resolved. */
function consumeWithGate(fixture: QueueFixture, outcome: ReturnType<typeof success>) {
    const gate = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    fixture.openQueue('worker').consume(
        async () => {
            started.resolve();
            await gate.promise;
            return outcome;
        },
        { concurrency: 8 },
    );
    return { started: started.promise, gate };
}

async function expectRefusedAtOnce(api: Queue): Promise<void> {
    const elapsedMs = startStopwatch();
    expect(await api.run(aJob())).to.deep.equal({ ok: false, code: 'SERVICE_UNAVAILABLE', retryAfter: 1 });
    expect(elapsedMs()).to.be.below(roomFor(350));
    expect(api.waiting()).to.equal(0);
}

async function startWorkerProcess(place: Place) {
    const child = spawn(process.execPath, [WORKER, JSON.stringify(place)], { stdio: ['ignore', 'pipe', 'inherit'] });
    const taken = Promise.withResolvers<void>();
    child.stdout.on('data', (text: Buffer) => {
        if (String(text).includes('taken')) taken.resolve();
    });
    return {
        taken: taken.promise,
        async kill() {
            const gone = once(child, 'exit');
            child.kill('SIGKILL');
            await gone;
        },
    };
}

async function flush(port: number): Promise<void> {
    const redis = new Redis(port);
    await redis.flushall();
    redis.disconnect();
}

async function isAnyWaiting(port: number): Promise<boolean> {
    const redis = new Redis(port);
    try {
        return String(await redis.client('LIST')).includes(' cmd=bzpopmin ');
    } finally {
        redis.disconnect();
    }
}

async function breakConnections({ databaseUrl }: Place, name: string): Promise<number | null> {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    const { rowCount } = await client.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like $1',
        [name],
    );
    await client.end();
    return rowCount;
}
