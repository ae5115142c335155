import { expect } from 'chai';
import * as verification from '../../shared/store/registry/verification.ts';
import { type OwnRedis, startRedis } from '../queue/redis-server.ts';
import { eventually } from '../support/eventually.ts';
import { join, type Person } from '../support/people.ts';
import { type Running, startProcess } from '../support/processes.ts';
import { dataOf } from '../support/routes.ts';
import { openSiteWithPages, page, SITE, SITE_HOSTS, type SiteWithPages, sitePackage } from '../support/site-with-pages.ts';
import { openWorld, TOPOLOGIES, type World } from '../support/world.ts';

for (const topology of TOPOLOGIES) {
    describe(`a worker that is killed in the middle of a verification run (${topology})`, function () {
        this.timeout(60_000);
        let world: World;
        let site: SiteWithPages;
        let ada: Person;
        let redis: OwnRedis | undefined;
        const started: Running[] = [];

        before(async () => {
            site = await openSiteWithPages();
            // Real processes know the product's own key prefix only, so that they get a Redis of their own.
            redis = topology === 'redis' ? await startRedis() : undefined;
            const store = redis === undefined ? {} : { redisUrl: redis.url, keyPrefix: '{routebook}' };
            world = await openWorld({ topology, workers: 0, config: { egressHosts: SITE_HOSTS, ...store } });
            ada = await join(world, { plan: 'pro' });
        });

        after(async () => {
            for (const worker of started) await worker.end('SIGKILL');
            await world.close();
            await site.close();
            await redis?.remove();
        });

        async function startWorker(): Promise<Running> {
            const worker = startProcess('worker', {
                DATABASE_URL: world.databaseUrl,
                ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
                EGRESS_ALLOW: '127.0.0.0/8',
                EGRESS_HOSTS: `${SITE}=127.0.0.1`,
            });
            started.push(worker);
            await worker.said('the worker takes jobs');
            return worker;
        }

        it('leaves the run to another one, ten minutes later', async () => {
            await ada.publish(sitePackage(SITE, [page(site, SITE, 'held')]));
            const doomed = await startWorker();
            await site.waiting(1);
            await doomed.end('SIGKILL');
            const survivor = await startWorker();
            await survivor.said('died or was cut off');
            expect(site.calls, 'not before the ten minutes are over').to.have.length(1);
            await world.clock.advance({ minutes: 10 });
            await site.waiting(1);
            site.letGo();
            const isVerified = async () => dataOf<{ verified: boolean }>(await ada.call('GET', `/v1/schemas/${SITE}`)).verified;
            await eventually(isVerified, (verified) => verified, 20_000);
            expect(await verification.readState(world.app.db, SITE)).to.include({ run: 2, outcome: 'passed' });
            expect(site.calls).to.have.length(2);
        });

        it('and one that is told to stop leaves it too', async () => {
            const survivor = started.at(-1);
            await world.clock.advance({ days: 1 });
            await site.waiting(1);
            expect(await survivor?.end('SIGTERM')).to.equal(0);
            site.letGo();
            expect(await verification.readState(world.app.db, SITE)).to.include({ run: 3, outcome: null });
            expect(dataOf(await ada.call('GET', `/v1/schemas/${SITE}`))).to.include({ verified: true });
        });
    });
}
