import { expect } from 'chai';
import { type App, openApp } from '../../shared/app.ts';
import { type OpenWorker, openWorker } from '../../workers/worker.ts';
import { join, type Person } from '../support/people.ts';
import { codeOf } from '../support/routes.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { openWorld, type World } from '../support/world.ts';

describe('a worker that cannot reach the database when a call arrives', () => {
    let world: World;
    let app: App;
    let shop: Shop;
    let worker: OpenWorker;
    let ada: Person;

    before(async () => {
        shop = await openShop();
        world = await openWorld({ workers: 0, config: { egressHosts: SHOP_HOSTS } });
        const config = world.app.config as App['config'] & { databaseUrl: string };
        app = openApp(config, { role: 'worker', log: world.app.log });
        // What the driver throws when a connection takes too long to open.
        const load = () => Promise.reject(new Error('timeout expired'));
        worker = await openWorker({ ...app, versions: { ...app.versions, load } }, { isWarm: false });
        ada = await join(world);
        await ada.publish(shopPackage(shop.port));
    });
    after(async () => {
        await worker?.close();
        await app?.close();
        await world?.close();
        await shop?.close();
    });

    it('sends nothing, and the caller may try again', async () => {
        for (const [endpoint, params] of [
            ['product', { id: 1 }],
            ['order', { product: 1 }],
        ] as const) {
            const answer = await ada.fetch(SHOP, endpoint, params);
            expect([answer.status, codeOf(answer)], endpoint).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
            expect(answer.body['error'], endpoint).to.include({ retryable: true, fault: 'service' });
        }
        expect(shop.seen).to.deep.equal([]);
    });
});
