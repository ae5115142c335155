import { expect } from 'chai';
import { openLimits } from '../../shared/limits.ts';
import { Refusal } from '../../shared/refusals.ts';
import { silent } from '../queue/jobs.ts';
import { startRedis } from '../queue/redis-server.ts';
import { eventually, topologies } from '../queue/topologies.ts';
import { startRelay } from '../support/relay.ts';

const HOUR = { name: 'hour', limit: 100, seconds: 3600 } as const;

if (topologies.includes('redis')) {
    describe('the limits when Redis fails', () => {
        for (const [how, isSilent] of [
            ['down', false],
            ['silent', true],
        ] as const) {
            it(`refuses a counted call within 300 ms while Redis is ${how}, and counts on afterwards`, async function () {
                this.timeout(20_000);
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
                // Silence has to be noticed first.
                if (isSilent) await take().catch(() => undefined);
                const begun = performance.now();
                const refusal = await take().catch((error: unknown) => error);
                expect(performance.now() - begun).to.be.below(350);
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
    });
}

describe('the limits when PostgreSQL is down', () => {
    it('refuses a counted call at once', async () => {
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
