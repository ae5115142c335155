import { expect } from 'chai';
import * as ledger from '../../shared/store/credits/ledger.ts';
import { patienceFor } from '../support/eventually.ts';
import { type Answer, join, type Person } from '../support/people.ts';
import type { Running } from '../support/processes.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { ANY_TOPOLOGY, type World } from '../support/world.ts';
import { openWorldOfProcesses, type WorldOfProcesses } from '../support/world-of-processes.ts';

const codeOf = ({ body }: Answer) => (body['error'] as { code: string } | undefined)?.code ?? 'success';

for (const topology of ANY_TOPOLOGY) {
    describe(`a worker that is killed in the middle of a fetch (${topology})`, () => {
        let world: World;
        let shop: Shop;
        let ada: Person;
        let doomed: Running;
        let processes: WorldOfProcesses;

        beforeEach(async () => {
            shop = await openShop();
            processes = await openWorldOfProcesses(topology, SHOP_HOSTS);
            ({ world } = processes);
            ada = await join(world, { plan: 'pro' });
            await ada.publish(shopPackage(shop.port));
            doomed = await processes.startWorker();
        });

        afterEach(async () => {
            shop.letGo();
            await processes.close();
            await shop.close();
        });

        it('answers inside the deadline, releases the hold, and never sends a write twice', async () => {
            const began = performance.now();
            const write = ada.fetch(SHOP, 'held_write', {}, { timeout_ms: 6000 });
            await shop.waiting(1);
            doomed.signal('SIGKILL');
            const answer = await write;
            // A busy machine adds far less than the minutes of a call that nobody ends.
            expect(performance.now() - began).to.be.below(6000 + patienceFor(5000));
            expect(codeOf(answer)).to.equal('OUTCOME_UNKNOWN');
            expect(shop.seen.filter(({ method }) => method === 'POST')).to.have.lengthOf(1);
            expect(await ledger.totalHeld(world.app.db)).to.equal(0);
            expect(answer.body['error']).to.include({ retryable: false, fault: 'service' });
        });

        it('answers a read that no other worker takes with DEADLINE_EXCEEDED, free of charge', async () => {
            const read = ada.fetch(SHOP, 'held', {}, { timeout_ms: 6000 });
            await shop.waiting(1);
            doomed.signal('SIGKILL');
            expect(codeOf(await read)).to.equal('DEADLINE_EXCEEDED');
            expect(await ledger.totalHeld(world.app.db)).to.equal(0);
        });

        it('runs a read once more on a worker that lives, and a write never', async () => {
            const read = ada.fetch(SHOP, 'held', {}, { timeout_ms: 20_000 });
            const write = ada.fetch(SHOP, 'held_write', {}, { timeout_ms: 20_000 });
            await shop.waiting(2);
            doomed.signal('SIGKILL');
            await doomed.end('SIGKILL');
            const second = await processes.startWorker();
            try {
                // The read comes again once the survivor has noticed. Then its two runs are used up.
                await shop.waiting(1);
                shop.letGo();
                expect(codeOf(await read)).to.equal('success');
                expect(codeOf(await write)).to.equal('OUTCOME_UNKNOWN');
                expect(shop.seen.filter(({ method }) => method === 'GET')).to.have.lengthOf(2);
                expect(shop.seen.filter(({ method }) => method === 'POST')).to.have.lengthOf(1);
            } finally {
                await second.end('SIGTERM');
            }
        });
    });
}
