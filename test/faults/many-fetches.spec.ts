import { expect } from 'chai';
import * as ledger from '../../shared/store/ledger.ts';
import { type Answer, join, type Person } from '../support/people.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { openWorld, TOPOLOGIES, type World } from '../support/world.ts';

const FETCHES = 2000;
const IN_FLIGHT = 64;

for (const topology of TOPOLOGIES) {
    describe(`${FETCHES} fetches at ${IN_FLIGHT} in flight over two workers, a tenth failing upstream (${topology})`, function () {
        this.timeout(90_000);
        let world: World;
        let shop: Shop;
        let ada: Person;
        let answers: Answer[];

        before(async () => {
            shop = await openShop();
            world = await openWorld({ topology, workers: 2, config: { egressHosts: SHOP_HOSTS, workerConcurrency: 128 } });
            const high = 1_000_000;
            ada = await join(world, { plan: 'enterprise', overrides: { perMinute: high, perHour: high, perDay: high, concurrency: 200 } });
            expect((await ada.publish(shopPackage(shop.port))).status).to.equal(201);
            answers = await callAll(ada);
        });

        after(async () => {
            await world.close();
            await shop.close();
        });

        it('answers every caller: nine in ten with a result, one in ten with the failure of the site', () => {
            const codes = answers.map(({ status, body }) => (status === 200 ? 'success' : (body['error'] as { code: string }).code));
            const counts: Record<string, number> = {};
            for (const code of codes) counts[code] = (counts[code] ?? 0) + 1;
            expect(counts).to.deep.equal({ success: FETCHES * 0.9, UPSTREAM_STATUS: FETCHES * 0.1 });
        });

        it('charges exactly the successes, and leaves no hold', async () => {
            const { rows } = await world.app.db.raw(
                'select state, count(*), sum(charged) as charged from holds group by state order by state',
            );
            expect(rows).to.deep.equal([
                { state: 'charged', count: FETCHES * 0.9, charged: String(FETCHES * 0.9) },
                { state: 'released', count: FETCHES * 0.1, charged: null },
            ]);
            expect(await ledger.totalHeld(world.app.db)).to.equal(0);
            const used = answers.reduce((sum, { body }) => sum + (body['meta'] as { credits_used: number }).credits_used, 0);
            expect(used).to.equal(FETCHES * 0.9);
        });

        it('keeps a ledger that sums', async () => {
            expect(await ledger.checkLedger(world.app.db)).to.deep.equal([]);
        });

        it('leaves nobody waiting and no job behind', async () => {
            expect(world.app.queue.waiting()).to.equal(0);
            expect(await world.app.queue.counts()).to.deep.equal({ waiting: 0, active: 0, delayed: 0 });
        });
    });
}

async function callAll(person: Person): Promise<Answer[]> {
    const answers: Answer[] = [];
    let next = 0;
    const lanes = Array.from({ length: IN_FLIGHT }, async () => {
        for (let mine = next++; mine < FETCHES; mine = next++) {
            const isFailure = mine % 10 === 0;
            // A 4xx is not retried, so that each failing fetch is one request.
            answers.push(await (isFailure ? person.fetch(SHOP, 'status', { code: 404 }) : person.fetch(SHOP, 'product', { id: mine })));
        }
    });
    await Promise.all(lanes);
    return answers;
}
