import { expect } from 'chai';
import { setDomain } from '../../shared/store/registry/sites.ts';
import { eventually } from '../support/eventually.ts';
import { join } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { openWorld, type World } from '../support/world.ts';

describe('the slices of a batch', function () {
    this.timeout(120_000);
    let world: World;
    let shop: Shop;

    before(async () => {
        shop = await openShop();
        // The default, which the world lowers.
        world = await openWorld({ topology: 'redis', workers: 1, config: { egressHosts: SHOP_HOSTS, workerConcurrency: 128 } });
    });
    after(async () => {
        await world.close();
        await shop.close();
    });

    it('are large while items end one by one', async () => {
        const eve = await join(world, {
            plan: 'enterprise',
            overrides: { perMinute: 100_000, perHour: 100_000, perDay: 100_000, concurrency: 1000 },
        });
        dataOf(await eve.publish(shopPackage(shop.port)));
        await setDomain(world.app.db, SHOP, { concurrency: 1000 });
        const run = async (count: number): Promise<string> => {
            const items = Array.from({ length: count }, (_, at) => ({ params: { id: at + 1 } }));
            const body = { defaults: { site: SHOP, endpoint: 'product' }, items };
            const { batch_id: id } = dataOf<{ batch_id: string }>(await eve.call('POST', '/v1/batches', { body }));
            const read = async () => dataOf<{ finished_at: string | null }>(await eve.call('GET', `/v1/batches/${id}?wait=30`));
            await eventually(read, ({ finished_at: at }) => at !== null, 60_000);
            return id;
        };
        // Until it has ended, the worker knows that the site may use all slots.
        await run(500);
        const id = await run(1500);
        const holds: { items: number }[] = await world.app.db('holds').where({ batch_id: id }).select('items');
        // A regular claim may find one or two free slots.
        const inSmall = holds.filter(({ items }) => items <= 2).reduce((sum, { items }) => sum + items, 0);
        expect(inSmall).to.be.below(1500 / 20);
    });
});
