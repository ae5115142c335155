import { expect } from 'chai';
import { type OwnRedis, startRedis } from '../queue/redis-server.ts';
import { type Answer, join, type Person } from '../support/people.ts';
import { type Running, startProcess } from '../support/processes.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { openWorld, type Topology, type World } from '../support/world.ts';

/** A Routebook with one worker process at a time, and a shop whose endpoint `held` kills it. */
export interface PoisonBed {
    readonly world: World;
    readonly shop: Shop;
    readonly ada: Person;
    /** Starts another worker in place of the previous one. */
    replaceWorker(): Promise<Running>;
    close(): Promise<void>;
}

export async function openPoisonBed(topology: Topology): Promise<PoisonBed> {
    const shop = await openShop();
    // Real processes use the product's own key prefix, so they get a Redis of their own.
    const redis: OwnRedis | undefined = topology === 'redis' ? await startRedis() : undefined;
    const store = redis === undefined ? {} : { redisUrl: redis.url, keyPrefix: '{routebook}' };
    const world = await openWorld({ topology, workers: 0, config: { egressHosts: SHOP_HOSTS, ...store } });
    const ada = await join(world, { plan: 'pro' });
    await ada.publish(shopPackage(shop.port));
    let worker: Running | undefined;
    return {
        world,
        shop,
        ada,
        async replaceWorker() {
            await worker?.end('SIGKILL');
            worker = startProcess('worker', {
                DATABASE_URL: world.databaseUrl,
                ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
                EGRESS_ALLOW: '127.0.0.0/8',
                EGRESS_HOSTS: `${SHOP}=127.0.0.1`,
            });
            await worker.said('the worker takes jobs');
            return worker;
        },
        async close() {
            await worker?.end('SIGKILL');
            shop.letGo();
            await world.close();
            await shop.close();
            await redis?.remove();
        },
    };
}

/** R20: each worker that takes this job dies. Fails if a third worker does, if others are affected, or if a new version is not admitted. */
export async function killTwo({ world, shop, ada, replaceWorker }: PoisonBed): Promise<void> {
    const calls = () => shop.seen.filter(({ path }) => path === '/held').length;
    const before = calls();
    await replaceWorker();
    const poison = ada.fetch(SHOP, 'held', {}, { timeout_ms: 40_000 });
    await shop.waiting(1);
    await replaceWorker();
    await shop.waiting(1);
    const survivor = await replaceWorker();
    expect(codeOf(await poison)).to.equal('DEADLINE_EXCEEDED');

    const bob = await join(world);
    const refused = await bob.fetch(SHOP, 'held');
    expect(codeOf(refused)).to.equal('SITE_UNAVAILABLE');
    expect(refused.status).to.equal(503);
    expect((refused.body['error'] as { retry_after: number }).retry_after).to.be.within(3500, 3600);
    expect(calls() - before).to.equal(2);
    expect(await survivor.said('an endpoint killed two workers')).to.include('"endpoint":"held"');
    expect(codeOf(await bob.fetch(SHOP, 'product', { id: 1 }))).to.equal('success');

    const published = await ada.publish(shopPackage(shop.port, { title: `A shop that was repaired after ${calls()} calls` }));
    expect(published.status).to.equal(201);
    const again = bob.fetch(SHOP, 'held', {}, { timeout_ms: 20_000 });
    await shop.waiting(1);
    shop.letGo();
    expect(codeOf(await again)).to.equal('success');
}

const codeOf = ({ body }: Answer) => (body['error'] as { code: string } | undefined)?.code ?? 'success';
