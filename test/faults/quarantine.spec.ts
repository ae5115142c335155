import { expect } from 'chai';
import { type OwnRedis, startRedis } from '../queue/redis-server.ts';
import { type Answer, join, type Person } from '../support/people.ts';
import { type Running, startProcess } from '../support/processes.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { openWorld, TOPOLOGIES, type World } from '../support/world.ts';

const codeOf = ({ body }: Answer) => (body['error'] as { code: string } | undefined)?.code ?? 'success';

for (const topology of TOPOLOGIES) {
    describe(`an endpoint that kills its workers (${topology})`, function () {
        this.timeout(60_000);
        let world: World;
        let shop: Shop;
        let ada: Person;
        let redis: OwnRedis | undefined;
        const started: Running[] = [];

        before(async () => {
            shop = await openShop();
            // Real processes know the product's own key prefix only, so that they get a Redis of their own.
            redis = topology === 'redis' ? await startRedis() : undefined;
            const store = redis === undefined ? {} : { redisUrl: redis.url, keyPrefix: '{routebook}' };
            world = await openWorld({ topology, workers: 0, config: { egressHosts: SHOP_HOSTS, ...store } });
            ada = await join(world, { plan: 'pro' });
            await ada.publish(shopPackage(shop.port));
        });

        after(async () => {
            for (const worker of started) await worker.end('SIGKILL');
            shop.letGo();
            await world.close();
            await shop.close();
            await redis?.remove();
        });

        async function startWorker(): Promise<Running> {
            const worker = startProcess('worker', {
                DATABASE_URL: world.databaseUrl,
                ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
                EGRESS_ALLOW: '127.0.0.0/8',
                EGRESS_HOSTS: `${SHOP}=127.0.0.1`,
            });
            started.push(worker);
            await worker.said('the worker takes jobs');
            return worker;
        }

        it('is not called a third time, by anybody, until a new version; all others go on', async () => {
            const first = await startWorker();
            const poison = ada.fetch(SHOP, 'held', {}, { timeout_ms: 40_000 });
            await shop.waiting(1);
            await first.end('SIGKILL');
            const second = await startWorker();
            await shop.waiting(1);
            await second.end('SIGKILL');
            const survivor = await startWorker();
            expect(codeOf(await poison)).to.equal('DEADLINE_EXCEEDED');

            const bob = await join(world);
            const refused = await bob.fetch(SHOP, 'held');
            expect(codeOf(refused)).to.equal('SITE_UNAVAILABLE');
            expect(refused.status).to.equal(503);
            expect((refused.body['error'] as { retry_after: number }).retry_after).to.be.within(3500, 3600);
            expect(shop.seen.filter(({ path }) => path === '/held')).to.have.lengthOf(2);
            expect(await survivor.said('an endpoint killed two workers')).to.include('"endpoint":"held"');
            expect(codeOf(await bob.fetch(SHOP, 'product', { id: 1 }))).to.equal('success');

            const published = await ada.publish(shopPackage(shop.port, { title: 'A mended shop' }));
            expect(published.status).to.equal(201);
            const again = bob.fetch(SHOP, 'held', {}, { timeout_ms: 20_000 });
            await shop.waiting(1);
            shop.letGo();
            expect(codeOf(await again)).to.equal('success');
        });
    });
}
