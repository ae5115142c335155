import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { openFleet, WORKER_LIFE_MS } from '../../shared/coordination/limits/fleet.ts';
import { openLimits } from '../../shared/coordination/limits/limits.ts';
import { rememberSlots } from '../../shared/coordination/limits/slots.ts';
import { Refusal } from '../../shared/refusals.ts';
import { silent } from '../queue/jobs.ts';
import { eventually, topologies } from '../queue/queue-fixture.ts';
import { startRedis } from '../queue/redis-server.ts';
import { roomFor } from '../support/eventually.ts';
import { startRelay } from '../support/relay.ts';
import { startStopwatch } from '../support/stopwatch.ts';

const HOUR = { name: 'hour', limit: 100, seconds: 3600 } as const;

if (topologies.includes('redis')) {
    describe('the limits when Redis fails', () => {
        it('count the very first call, before any connection exists', async () => {
            const redis = await startRedis();
            const limits = openLimits({
                databaseUrl: '',
                redisUrl: redis.url,
                keyPrefix: 'limits',
                clock: { offsetMs: 0 },
                log: silent,
            });
            const verdicts = await Promise.all([1, 2].map(() => limits.take({ identity: 'account:one', windows: [HOUR] })));
            expect(verdicts.map(({ ok }) => ok)).to.deep.equal([true, true]);
            await limits.close();
            await redis.remove();
        });

        it('refuse the very first call at once without Redis', async () => {
            const limits = openLimits({
                databaseUrl: '',
                redisUrl: 'redis://127.0.0.1:1',
                keyPrefix: 'limits',
                clock: { offsetMs: 0 },
                log: silent,
            });
            const elapsedMs = startStopwatch();
            const refusal = await limits.take({ identity: 'account:one', windows: [HOUR] }).catch((error: unknown) => error);
            expect(elapsedMs()).to.be.below(roomFor(350));
            expect(refusal).to.deep.include({ code: 'SERVICE_UNAVAILABLE' });
            await limits.close();
        });

        for (const [how, isSilent] of [
            ['down', false],
            ['silent', true],
        ] as const) {
            it(`refuse a counted call within 300 ms while Redis is ${how}, and count again afterwards`, async () => {
                const redis = await startRedis();
                const relay = await startRelay(redis.port);
                const limits = openLimits({
                    databaseUrl: '',
                    redisUrl: `redis://127.0.0.1:${relay.port}`,
                    keyPrefix: 'limits',
                    clock: { offsetMs: 0 },
                    log: silent,
                });
                const take = () => limits.take({ identity: 'account:one', windows: [HOUR] });
                await eventually('it counts', () => take().then(Boolean, () => false));
                if (isSilent) relay.silence();
                else await redis.kill();
                // A stall must be noticed first.
                if (isSilent) await take().catch(() => undefined);
                const elapsedMs = startStopwatch();
                const refusal = await take().catch((error: unknown) => error);
                expect(elapsedMs()).to.be.below(roomFor(350));
                expect(refusal).to.be.instanceOf(Refusal);
                expect(refusal).to.deep.include({ code: 'SERVICE_UNAVAILABLE', extras: { retryAfter: 1 } });
                if (isSilent) relay.speak();
                else await redis.start();
                await eventually('it counts again', () => take().then(Boolean, () => false), 3000);
                await limits.close();
                await relay.close();
                await redis.remove();
            });
        }

        it('leave a site its share even if an emptied Redis knows no worker', async () => {
            const redis = await startRedis();
            const own = { databaseUrl: '', redisUrl: redis.url, keyPrefix: 'limits', log: silent };
            const limits = openLimits({ ...own, clock: { offsetMs: 0 } });
            const fleet = openFleet(own);
            const report = () => fleet.report({ id: 'one', slots: 8, busy: 0, progressAt: Date.now() });
            await eventually('the register answers', () =>
                report().then(
                    () => true,
                    () => false,
                ),
            );
            let calls = 0;
            const take = () => {
                const lease = {
                    operation: `op_${++calls}`,
                    account: 'one',
                    concurrency: 100,
                    site: 'a.example',
                    expiresAt: Date.now() + 30_000,
                };
                return limits.take({ identity: 'account:one', windows: [HOUR], lease });
            };
            await eventually('it counts', () => take().then(Boolean, () => false));
            await promisify(execFile)('redis-cli', ['-p', String(redis.port), 'flushall']);
            const verdicts = await Promise.all([take(), take(), take(), take(), take()]);
            expect(verdicts.map(({ ok }) => ok)).to.deep.equal([true, true, true, true, false]);
            await limits.close();
            await fleet.close();
            await redis.remove();
        });
    });

    describe('the worker slots that a process knows', () => {
        it('are the last ones of the store, until no worker has reported for the lifetime of a report', () => {
            let now = 1000;
            const slots = rememberSlots(() => now);
            expect(slots.latest()).to.equal(0);
            slots.observe(8);
            now += 60_000;
            slots.observe(-1);
            expect(slots.latest()).to.equal(8);
            now += WORKER_LIFE_MS - 1;
            slots.observe(-1);
            expect(slots.latest()).to.equal(8);
            slots.unreachable();
            now += 60_000;
            slots.observe(-1);
            expect(slots.latest(), 'nobody can report to a store that is away').to.equal(8);
            now += WORKER_LIFE_MS;
            slots.observe(-1);
            expect(slots.latest()).to.equal(0);
        });
    });
}

describe('the limits when PostgreSQL is down', () => {
    it('refuse a counted call at once', async () => {
        const limits = openLimits({
            databaseUrl: 'postgres://nobody@127.0.0.1:1/none',
            keyPrefix: 'limits',
            clock: { offsetMs: 0 },
            log: silent,
        });
        const refusal = await limits.take({ identity: 'account:one', windows: [HOUR] }).catch((error: unknown) => error);
        expect(refusal).to.be.instanceOf(Refusal);
        expect(refusal).to.deep.include({ code: 'SERVICE_UNAVAILABLE' });
        await limits.end({ operation: 'op_1', account: 'account:one' });
        await limits.close();
    });
});
