import { expect } from 'chai';
import * as ledger from '../../shared/store/credits/ledger.ts';
import { join, type Person } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { ANY_TOPOLOGY, type World } from '../support/world.ts';
import { openWorldOfProcesses, type WorldOfProcesses } from '../support/world-of-processes.ts';

interface Job {
    job_id: string;
    status: string;
    attempts: number;
    credits_used: number;
    error: { code: string } | null;
}

for (const topology of ANY_TOPOLOGY) {
    describe(`a worker that is killed while it runs jobs (${topology})`, () => {
        let world: World;
        let shop: Shop;
        let ada: Person;
        let processes: WorldOfProcesses;

        beforeEach(async () => {
            shop = await openShop();
            processes = await openWorldOfProcesses(topology, SHOP_HOSTS);
            ({ world } = processes);
            ada = await join(world, { plan: 'pro' });
            await ada.publish(shopPackage(shop.port));
        });

        afterEach(async () => {
            shop.letGo();
            await processes.close();
            await shop.close();
        });

        const order = async (endpoint: string, params: object = {}) =>
            dataOf<Job>(await ada.call('POST', '/v1/jobs', { body: { site: SHOP, endpoint, params, timeout_ms: 60_000 } }));
        const ended = async ({ job_id: id }: Job) => {
            for (;;) {
                const job = dataOf<Job>(await ada.call('GET', `/v1/jobs/${id}?wait=30`));
                if (job.status !== 'queued' && job.status !== 'running') return job;
            }
        };

        it('leaves its reads to other workers, never repeats its writes, and holds or charges no credit twice', async () => {
            const doomed = await processes.startWorker();
            const read = await order('held');
            const write = await order('held_write');
            await shop.waiting(2);
            doomed.signal('SIGKILL');
            await processes.startWorker();
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
                const doomed = await processes.startWorker();
                await shop.waiting(1);
                doomed.signal('SIGKILL');
                await doomed.end('SIGKILL');
                shop.letGo();
            }
            await processes.startWorker();
            const done = await ended(job);
            expect(done).to.include({ status: 'failed', attempts: 2, credits_used: 0 });
            expect(done.error?.code).to.equal('DEADLINE_EXCEEDED');
        });
    });
}
