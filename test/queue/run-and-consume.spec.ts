import { expect } from 'chai';
import type { Consumer, Handler, Queue } from '../../shared/coordination/queue/queue.ts';
import type { FetchOutcome } from '../../shared/domain/fetch/fetch-job.ts';
import { aJob, dataOf, eventually, isUp, openQueueFixture, type QueueFixture, success, topologies } from './queue-fixture.ts';

for (const topology of topologies) {
    describe(`the queue over ${topology}`, () => {
        let fixture: QueueFixture;
        let api: Queue;

        before(async () => {
            fixture = await openQueueFixture(topology);
        });
        beforeEach(async () => {
            api = fixture.openQueue('api');
            await eventually('it is connected', () => isUp(api));
        });
        afterEach(async () => {
            expect(api.waiting()).to.equal(0, 'a waiter was left behind');
            await fixture.closeAll();
        });
        after(() => fixture.remove());

        function work(handler: Handler, concurrency = 64): Consumer {
            return fixture.openQueue('worker').consume(handler, { concurrency });
        }

        it('delivers a job to a worker and its outcome to the caller', async () => {
            work(async (job) => success({ site: job.site, asked: job.values }));
            const outcome = await api.run(aJob({ values: '{"q":"shoes","a":1}' }));
            expect(outcome).to.deep.include({ ok: true, text: JSON.stringify({ site: 'shop.example', asked: '{"q":"shoes","a":1}' }) });
        });

        it('delivers to each of 1,000 concurrent callers the outcome of its own call', async () => {
            work(async (job) => success({ operation: job.operation }));
            const jobs = Array.from({ length: 1000 }, () => aJob({}, 20_000));
            const outcomes = await Promise.all(jobs.map((job) => api.run(job)));
            expect(outcomes.map((outcome) => dataOf(outcome)?.['operation'])).to.deep.equal(jobs.map((job) => job.operation));
            await eventually('the queue is empty', async () => Object.values(await api.counts()).every((count) => count === 0));
        });

        it('does not mix the replies of two waiting processes', async () => {
            const other = fixture.openQueue('api');
            await eventually('it is connected', () => isUp(other));
            work(async (job) => success({ endpoint: job.endpoint }));
            const [mine, theirs] = await Promise.all([api.run(aJob({ endpoint: 'mine' })), other.run(aJob({ endpoint: 'theirs' }))]);
            expect(dataOf(mine)?.['endpoint']).to.equal('mine');
            expect(dataOf(theirs)?.['endpoint']).to.equal('theirs');
        });

        it('delivers an outcome of 10 MiB', async () => {
            const long = 'é'.repeat(5 * 1024 * 1024);
            work(async () => success({ long }));
            const outcome = await api.run(aJob({}, 20_000));
            expect(dataOf(outcome)?.['long'] === long).to.equal(true);
        });

        it('delivers an expected refusal as a value, with all its fields', async () => {
            const refused: FetchOutcome = { ok: false, code: 'UPSTREAM_STATUS', upstream: { status: 404, snippet: 'gone' }, attempts: 1 };
            work(async () => refused);
            expect(await api.run(aJob())).to.deep.include(refused);
        });

        it('answers INTERNAL if the handler has a bug, and continues', async () => {
            work(async (job) => {
                if (job.endpoint === 'bug') throw new TypeError('undefined is not a function');
                return success();
            });
            expect(await api.run(aJob({ endpoint: 'bug' }))).to.deep.include({ ok: false, code: 'INTERNAL' });
            expect((await api.run(aJob())).ok).to.equal(true);
        });

        it('lets a handler release what it held once its outcome was delivered', async () => {
            let held = 0;
            work(async (_job, _signal, _trace, afterwards) => {
                held += 1;
                afterwards(() => {
                    held -= 1;
                });
                return success({ held: String(held) });
            });
            const outcome = await api.run(aJob());
            expect(outcome.ok && JSON.parse(outcome.text)).to.deep.equal({ held: '1' });
            await eventually('it was given back', async () => held === 0);
        });

        it('answers at the deadline when no worker reports', async () => {
            const begun = performance.now();
            const outcome = await api.run(aJob({}, 300));
            expect(outcome).to.deep.equal({ ok: false, code: 'DEADLINE_EXCEEDED', lost: 'deadline' });
            expect(performance.now() - begun).to.be.within(450, 10_000);
            await eventually('the job is taken out of the queue', async () => (await api.counts()).waiting === 0);
        });

        it('never queues a call whose deadline has passed', async () => {
            expect(await api.run(aJob({ deadlineAt: Date.now() - 1 }))).to.deep.equal({ ok: false, code: 'DEADLINE_EXCEEDED' });
            expect((await api.counts()).waiting).to.equal(0);
        });

        it('removes a waiting job when its caller disconnects', async () => {
            const caller = new AbortController();
            const outcome = api.run(aJob(), { signal: caller.signal });
            await eventually('the job waits', async () => (await api.counts()).waiting === 1);
            caller.abort();
            expect((await outcome).ok).to.equal(false);
            await eventually('nothing waits', async () => (await api.counts()).waiting === 0);
        });

        it('aborts a running job when its caller disconnects', async () => {
            const seen = Promise.withResolvers<void>();
            const aborted = Promise.withResolvers<void>();
            const consumer = work((_job, signal) => {
                seen.resolve();
                const { promise, reject } = Promise.withResolvers<FetchOutcome>();
                signal.addEventListener('abort', () => {
                    aborted.resolve();
                    reject(signal.reason);
                });
                return promise;
            });
            const caller = new AbortController();
            const outcome = api.run(aJob(), { signal: caller.signal });
            await seen.promise;
            caller.abort();
            await aborted.promise;
            expect((await outcome).ok).to.equal(false);
            await eventually('the slot is free', () => consumer.inFlight() === 0);
        });

        it('lets normal jobs pass those of lower priority', async () => {
            const order: string[] = [];
            const bulk = [api.run(aJob({ endpoint: 'bulk' }), { priority: 100 }), api.run(aJob({ endpoint: 'bulk' }), { priority: 100 })];
            await eventually('the bulk jobs wait', async () => (await api.counts()).waiting === 2);
            const plain = api.run(aJob({ endpoint: 'plain' }));
            await eventually('all wait', async () => (await api.counts()).waiting === 3);
            work(async (job) => {
                order.push(job.endpoint);
                return success();
            }, 1);
            await Promise.all([...bulk, plain]);
            expect(order).to.deep.equal(['plain', 'bulk', 'bulk']);
        });

        it('reports how many jobs wait and how long the oldest has waited', async () => {
            expect(await api.oldestWaitSeconds()).to.equal(0);
            const caller = new AbortController();
            const outcome = api.run(aJob(), { signal: caller.signal });
            await eventually('its age shows', async () => (await api.oldestWaitSeconds()) > 0.02);
            expect(await api.counts()).to.deep.equal({ waiting: 1, active: 0, delayed: 0 });
            caller.abort();
            await outcome;
        });

        it('finishes running jobs and takes no new ones when it drains', async () => {
            const gate = Promise.withResolvers<void>();
            const started = Promise.withResolvers<void>();
            const consumer = work(async () => {
                started.resolve();
                await gate.promise;
                return success();
            }, 1);
            const running = api.run(aJob());
            await started.promise;
            const drained = consumer.drain();
            const next = api.run(aJob({}, 400));
            gate.resolve();
            expect((await running).ok).to.equal(true);
            await drained;
            expect(consumer.inFlight()).to.equal(0);
            expect(await next).to.deep.include({ ok: false, lost: 'deadline' });
        });

        it('does not count as stuck when the clock of its machine jumps', async () => {
            const consumer = work(async () => success());
            const now = Date.now;
            try {
                for (const hours of [1, -1]) {
                    Date.now = () => now() + hours * 3_600_000;
                    expect(Math.abs(Date.now() - consumer.lastProgressAt())).to.be.below(60_000);
                }
            } finally {
                Date.now = now;
            }
        });

        it('shows that an idle worker is alive', async function () {
            this.timeout(8000);
            const consumer = work(async () => success());
            await api.run(aJob());
            const at = consumer.lastProgressAt();
            await eventually('its loop went round again', () => consumer.lastProgressAt() > at + 500, 4000);
            expect(Date.now() - consumer.lastProgressAt()).to.be.below(3000);
        });
    });
}
