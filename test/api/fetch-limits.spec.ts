import { expect } from 'chai';
import { errorOf, metaOf, useFetchWorld } from '../support/fetch-world.ts';
import { type Answer, join } from '../support/people.ts';
import { SHOP, shopPackage } from '../support/shop.ts';
import { TOPOLOGIES } from '../support/world.ts';

for (const topology of TOPOLOGIES) {
    describe(`a hosted fetch at a limit, with queue and limits in ${topology}`, () => {
        const { world, shop, ada } = useFetchWorld(topology);

        it('answers 402 with how to get credits when the balance is below one unit', async () => {
            const poor = await join(world, { overrides: { allowance: 0 } });
            const answer = await poor.fetch(SHOP, 'product', { id: 1 });
            expect(answer.status).to.equal(402);
            expect(errorOf(answer)).to.include({ code: 'INSUFFICIENT_CREDITS', upgrade_to: 'starter' });
            expect(errorOf(answer)['message']).to.equal('This call needs at least 1 credit, and 0 are left.');
            expect((await fetch(String(errorOf(answer)['upgrade_url']))).status).to.equal(200);
            expect(metaOf(answer)).to.include({ credits_used: 0, credits_remaining: 0 });
        });

        it('refuses a spending cap below one unit as a mistake', async () => {
            await world.app.db.raw("insert into domains (registrable, credits) values ('dear.test', 5)");
            await ada.publish(shopPackage(shop.port, { site: 'dear.test' }));
            const answer = await ada.fetch('dear.test', 'product', { id: 1 }, { max_credits: 4 });
            expect(answer.status).to.equal(400);
            const [detail] = errorOf(answer)['details'] as { path: string; code: string }[];
            expect(detail).to.include({ path: '/max_credits', code: 'INVALID_VALUE' });
            expect(metaOf(await ada.fetch('dear.test', 'product', { id: 1 }))).to.include({ credits_used: 5 });
        });

        it('is refused beyond the number of concurrent fetches of the account’s plan', async () => {
            const free = await join(world);
            const running = Array.from({ length: 5 }, () => free.fetch(SHOP, 'held'));
            await shop.waiting(5);
            const refused = await free.fetch(SHOP, 'product', { id: 1 });
            expect(refused.status).to.equal(429);
            expect(errorOf(refused)).to.include({ code: 'CONCURRENCY_LIMITED', retry_after: 1, retryable: true });
            expect(errorOf(refused)['message']).to.include('5 at a time');
            shop.letGo();
            expect((await Promise.all(running)).map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 200]);
            expect((await free.fetch(SHOP, 'product', { id: 1 })).status).to.equal(200);
        });

        it('leaves workers free for other sites', async () => {
            // One worker has 64 slots. A site may use half of them.
            const crowd = await Promise.all(Array.from({ length: 7 }, () => join(world)));
            const answers = crowd.flatMap((person) => Array.from({ length: 5 }, () => person.fetch(SHOP, 'held')));
            await shop.waiting(32);
            const refused = (await Promise.race(answers)) as Answer;
            expect(errorOf(refused)).to.include({ code: 'SITE_BUSY', status: 429, fault: 'service', retry_after: 1 });
            shop.letGo();
            const statuses = (await Promise.all(answers)).map(({ status }) => status);
            expect(statuses.filter((status) => status === 200)).to.have.lengthOf(32);
            expect(statuses.filter((status) => status === 429)).to.have.lengthOf(3);
        });

        it('names the window that is full, and counts refused calls nowhere', async () => {
            const small = await join(world, { overrides: { perMinute: 2 } });
            await small.fetch(SHOP, 'product', { id: 1 });
            await small.fetch(SHOP, 'product', { id: 1 });
            for (let time = 0; time < 3; time++) {
                const refused = await small.fetch(SHOP, 'product', { id: 1 });
                expect(refused.status).to.equal(429);
                expect(errorOf(refused)['code']).to.equal('RATE_LIMITED');
                expect(errorOf(refused)['message']).to.match(/minute/);
                expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 60);
                expect(refused.headers.get('ratelimit')).to.match(/"hour";r=998;/);
            }
        });
    });
}
