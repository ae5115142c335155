import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import * as ledger from '../../shared/store/credits/ledger.ts';
import { type Answer, join, type Person } from '../support/people.ts';
import { SHOP, SHOP_HOSTS, shopPackage, useShop } from '../support/shop.ts';
import { ANY_TOPOLOGY, useWorld } from '../support/world.ts';

const FETCHES = 2000;
const IN_FLIGHT = 64;
/** How often a caller retries. */
const MAX_TRIES = 5;

for (const topology of ANY_TOPOLOGY) {
    describe(`${FETCHES} fetches at ${IN_FLIGHT} in flight over two workers, a tenth failing upstream (${topology})`, () => {
        const world = useWorld({ topology, workers: 2, config: { egressHosts: SHOP_HOSTS, workerConcurrency: 128 } });
        const shop = useShop();
        let ada: Person;
        let answers: Answer[];
        let retries: number;

        before(async () => {
            const high = 1_000_000;
            ada = await join(world, { plan: 'enterprise', overrides: { perMinute: high, perHour: high, perDay: high, concurrency: 200 } });
            expect((await ada.publish(shopPackage(shop.port))).status).to.equal(201);
            ({ answers, retries } = await callAll(ada));
        });

        it('answers every caller: nine in ten with a result, one in ten with the error of the site', () => {
            const codes = answers.map(({ status, body }) => (status === 200 ? 'success' : (body['error'] as { code: string }).code));
            const counts: Record<string, number> = {};
            for (const code of codes) counts[code] = (counts[code] ?? 0) + 1;
            expect(counts).to.deep.equal({ success: FETCHES * 0.9, UPSTREAM_STATUS: FETCHES * 0.1 });
        });

        it('charges exactly the successes, and leaves no hold', async () => {
            const { rows } = await world.app.db.raw(
                'select state, count(*), sum(charged) as charged from holds group by state order by state',
            );
            const [charged, released, ...others] = rows;
            expect(charged).to.deep.equal({ state: 'charged', count: FETCHES * 0.9, charged: String(FETCHES * 0.9) });
            expect(released).to.deep.include({ state: 'released', charged: null });
            // A caller who had to retry may or may not have had credits on hold by then.
            expect(released.count).to.be.within(FETCHES * 0.1, FETCHES * 0.1 + retries);
            expect(others).to.deep.equal([]);
            expect(await ledger.totalHeld(world.app.db)).to.equal(0);
            const used = answers.reduce((sum, { body }) => sum + (body['meta'] as { credits_used: number }).credits_used, 0);
            expect(used).to.equal(FETCHES * 0.9);
        });

        it('keeps a ledger that sums', async () => {
            expect(await ledger.checkLedger(world.app.db)).to.deep.equal([]);
        });

        it('leaves no waiting caller and no job behind', async () => {
            expect(world.app.queue.waiting()).to.equal(0);
            expect(await world.app.queue.counts()).to.deep.equal({ waiting: 0, active: 0, delayed: 0 });
        });
    });
}

/** The final responses of all calls, and how many of them were retried before. */
async function callAll(person: Person): Promise<{ answers: Answer[]; retries: number }> {
    const answers: Answer[] = [];
    let retries = 0;
    let next = 0;
    const callers = Array.from({ length: IN_FLIGHT }, async () => {
        for (let mine = next++; mine < FETCHES; mine = next++) {
            const isFailure = mine % 10 === 0;
            // A 4xx is not retried, so that each failing fetch is one request.
            const ask = () => (isFailure ? person.fetch(SHOP, 'status', { code: 404 }) : person.fetch(SHOP, 'product', { id: mine }));
            let answer = await ask();
            for (let again = 0; mustRetry(answer) && again < MAX_TRIES; again++) {
                retries += 1;
                await sleep(Number(answer.headers.get('retry-after')) * 1000);
                answer = await ask();
            }
            answers.push(answer);
        }
    });
    await Promise.all(callers);
    return { answers, retries };
}

/** On a machine with other load, our own limits refuse some calls. Clients retry when they are told to. */
function mustRetry({ status, body }: Answer): boolean {
    return status === 503 && (body['error'] as { code: string }).code === 'SERVICE_UNAVAILABLE';
}
