import { expect } from 'chai';
import * as ledger from '../../shared/store/credits/ledger.ts';
import { balanceOf } from '../support/credits.ts';
import { type Answer, join, type Person } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { SHOP, SHOP_HOSTS, shopPackage, useShop } from '../support/shop.ts';
import { TOPOLOGIES, useWorld } from '../support/world.ts';

const FETCHES = 5000;
const IN_FLIGHT = 48;
/** The maximum of the shop's schema for one search. */
const MAX_RESULTS = 20;
const CREDITS = 20_000;

for (const topology of TOPOLOGIES) {
    describe(`calls that are billed per result (${topology})`, () => {
        const world = useWorld({ topology, workers: 2, config: { egressHosts: SHOP_HOSTS } });
        const shop = useShop();
        let ada: Person;

        before(async () => {
            const high = 1_000_000;
            const overrides = { perMinute: high, perHour: high, perDay: high, concurrency: 200, allowance: CREDITS };
            ada = await join(world, { plan: 'enterprise', overrides });
            dataOf(await ada.publish(shopPackage(shop.port)));
            // The bonus of a first fetch would disturb the counts.
            dataOf(await ada.fetch(SHOP, 'product', { id: 1 }));
        });

        it(`cost the results that came, within the limits of caller and balance, in ${FETCHES} fetches (R14)`, async () => {
            const before = await balanceOf(ada);
            let billed = 0;
            let refused = 0;
            await all(async (place) => {
                const n = (place * 7) % 26;
                const cap = place % 3 === 0 ? 1 + (place % 11) : MAX_RESULTS;
                const limits = place % 2 === 0 ? { max_results: cap } : { max_credits: cap };
                const answer = await ada.fetch(SHOP, 'search', { n }, place % 3 === 0 ? limits : {});
                if (answer.status === 402) {
                    refused += 1;
                    return;
                }
                const { credits_used, results, truncated } = metaOf(answer);
                billed += credits_used;
                expect(results).to.equal(credits_used);
                expect(dataOf<{ items: unknown[] }>(answer).items).to.have.lengthOf(results);
                const allowed = Math.min(n, cap, MAX_RESULTS);
                // Near the end, other calls hold the remaining credits. Then fewer results come, and the response says that they were cut.
                expect(results).to.be.at.most(allowed);
                if (results < allowed) expect(billed).to.be.above(before - 2 * IN_FLIGHT * MAX_RESULTS);
                expect(truncated).to.equal(results < n);
            });
            expect(refused, 'calls that the balance did not allow').to.be.above(0);
            expect(await balanceOf(ada)).to.equal(before - billed);
            expect(await ledger.checkLedger(world.app.db)).to.deep.equal([]);
            const { rows } = await world.app.db.raw("select sum(charged)::integer as charged from holds where endpoint = 'search'");
            expect(rows).to.deep.equal([{ charged: billed }]);
        });
    });
}

const metaOf = ({ body }: Answer) => body['meta'] as { credits_used: number; results: number; truncated: boolean };

async function all(work: (place: number) => Promise<void>): Promise<void> {
    let next = 0;
    const callers = Array.from({ length: IN_FLIGHT }, async () => {
        for (let mine = next++; mine < FETCHES; mine = next++) await work(mine);
    });
    await Promise.all(callers);
}
