import { expect } from 'chai';
import * as ledger from '../../shared/store/credits/ledger.ts';
import { type OwnRedis, startRedis } from '../queue/redis-server.ts';
import { join, type Person } from '../support/people.ts';
import { type Running, startProcess } from '../support/processes.ts';
import { dataOf } from '../support/routes.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { openWorld, TOPOLOGIES, type World } from '../support/world.ts';

interface Job {
    job_id: string;
    status: string;
    attempts: number;
    credits_used: number;
    error: { code: string } | null;
}

for (const topology of TOPOLOGIES) {
    describe(`a worker that is killed while it runs jobs (${topology})`, function () {
        this.timeout(120_000);
        let world: World;
        let shop: Shop;
        let ada: Person;
        let redis: OwnRedis | undefined;
        const workers: Running[] = [];

        beforeEach(async () => {
            shop = await openShop();
            // Real processes know the product's own key prefix only, so that they get a Redis of their own.
            redis = topology === 'redis' ? await startRedis() : undefined;
            const store = redis === undefined ? {} : { redisUrl: redis.url, keyPrefix: '{routebook}' };
            world = await openWorld({ topology, workers: 0, config: { egressHosts: SHOP_HOSTS, ...store } });
            ada = await join(world, { plan: 'pro' });
            await ada.publish(shopPackage(shop.port));
        });

        afterEach(async () => {
            for (const worker of workers.splice(0)) await worker.end('SIGKILL');
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
            workers.push(worker);
            await worker.said('the worker takes jobs');
            return worker;
        }

        const order = async (endpoint: string, params: object = {}) =>
            dataOf<Job>(await ada.call('POST', '/v1/jobs', { body: { site: SHOP, endpoint, params, timeout_ms: 60_000 } }));
        const ended = async ({ job_id: id }: Job) => {
            for (;;) {
                const job = dataOf<Job>(await ada.call('GET', `/v1/jobs/${id}?wait=30`));
                if (job.status !== 'queued' && job.status !== 'running') return job;
            }
        };

        it('leaves its reads to the others, never repeats its writes, and no credit is held or charged twice', async () => {
            const doomed = await startWorker();
            const read = await order('held');
            const write = await order('held_write');
            await shop.waiting(2);
            doomed.signal('SIGKILL');
            await startWorker();
            const waiting = await Promise.all(Array.from({ length: 20 }, (_, id) => order('product', { id: id + 1 })));
            await shop.waiting(1);
            expect(await ended(write)).to.deep.include({ status: 'failed', credits_used: 0 });
            expect((await ended(write)).error?.code).to.equal('OUTCOME_UNKNOWN');
            shop.letGo();
            expect(await ended(read)).to.include({ status: 'succeeded', attempts: 2, credits_used: 1 });
            for (const job of waiting) expect((await ended(job)).status).to.equal('succeeded');
            expect(shop.seen.filter(({ method }) => method === 'POST')).to.have.lengthOf(1);
            const { rows } = await world.app.db.raw(
                'select (select sum(charged) from holds) as charged, (select sum(credits_used) from jobs) as used',
            );
            expect(rows.map(({ charged, used }: Record<string, unknown>) => [Number(charged), Number(used)])).to.deep.equal([[21, 21]]);
            expect(await ledger.totalHeld(world.app.db)).to.equal(0);
        });

        it('fails a job whose second worker dies too', async () => {
            const job = await order('held');
            for (let death = 1; death <= 2; death++) {
                const doomed = await startWorker();
                await shop.waiting(1);
                doomed.signal('SIGKILL');
                await doomed.end('SIGKILL');
                shop.letGo();
            }
            await startWorker();
            const done = await ended(job);
            expect(done).to.include({ status: 'failed', attempts: 2, credits_used: 0 });
            expect(done.error?.code).to.equal('DEADLINE_EXCEEDED');
        });
    });
}
