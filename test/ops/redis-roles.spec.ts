import { expect } from 'chai';
import { type OwnRedis, startRedis } from '../queue/redis-server.ts';
import { eventually } from '../support/eventually.ts';
import { join } from '../support/people.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { readRedis } from '../support/stored.ts';
import { needs } from '../support/system-programs.ts';
import { openWorld, type World } from '../support/world.ts';

describe('a Redis for the queue and another for the limits', () => {
    let [queue, limits]: OwnRedis[] = [];
    let world: World;
    let shop: Shop;

    before(async function () {
        needs(this, 'redis');
        [queue, limits, shop] = await Promise.all([startRedis(), startRedis(), openShop()]);
        const config = { egressHosts: SHOP_HOSTS, redisUrl: undefined, redisQueueUrl: queue.url, redisLimitsUrl: limits.url };
        world = await openWorld({ topology: 'redis', workers: 1, config });
    });

    after(async () => {
        await world?.close();
        await shop?.close();
        await Promise.all([queue?.remove(), limits?.remove()]);
    });

    it('each contain the keys of their role only, and refuse with an error while they are down', async () => {
        const caller = await join(world);
        await caller.publish(shopPackage(shop.port));
        const code = async () => {
            const { status, body } = await caller.fetch(SHOP, 'product', { id: 1 });
            return status === 200 ? 'success' : (body['error'] as { code: string }).code;
        };
        expect(await code()).to.equal('success');
        for (const [name, redis, own, others] of [
            ['queue', queue, /:fetch:/, /:(limit|leases|fleet)/],
            ['limits', limits, /:limit:/, /:fetch:/],
        ] as const) {
            const keys = (await readRedis(redis?.url ?? '', world.app.config.keyPrefix)).map(([key]) => key).join('\n');
            expect(keys, name).to.match(own).and.not.match(others);
        }
        for (const redis of [queue, limits]) {
            await redis?.kill();
            expect(await code()).to.equal('SERVICE_UNAVAILABLE');
            await redis?.start();
            await eventually(code, (answer) => answer === 'success', 20_000);
        }
    });
});
