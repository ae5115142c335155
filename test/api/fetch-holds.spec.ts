import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { type FlakySite, flakyPackage, openFlakySite, says } from '../support/flaky-site.ts';
import { type Answer, join, type Person } from '../support/people.ts';
import { codeOf } from '../support/routes.ts';
import { ANY_TOPOLOGY, openWorld, type World } from '../support/world.ts';

const SITE = 'usual.test';
const INTENT = 'Find the thing that everybody looks for, and tell me how it is doing today';
const HOSTS: ReadonlyMap<string, readonly string[]> = new Map([[SITE, ['127.0.0.1']]]);

for (const topology of ANY_TOPOLOGY) {
    describe(`the hold of a fetch, over ${topology}`, () => {
        let world: World;
        let site: FlakySite;
        let owner: Person;
        let ada: Person;
        /** Operations that requested a hold. */
        let asked: string[];

        beforeEach(async () => {
            site = await openFlakySite();
            world = await openWorld({ topology, config: { egressHosts: HOSTS } });
            owner = await join(world);
            ada = await join(world, { overrides: { perMinute: 10 } });
            expect((await owner.publish(flakyPackage(SITE, site.port))).status).to.equal(201);
            asked = [];
            const { hold } = world.app.credits;
            world.app.credits.hold = (order) => {
                asked.push(order.operation);
                return hold(order);
            };
        });
        afterEach(async () => {
            site.letGo();
            await world.close();
            await site.close();
        });

        const thing = (more = {}): Promise<Answer> => ada.fetch(SITE, 'thing', {}, more);
        const remaining = (answer: Answer) => (answer.body['meta'] as { credits_remaining: number }).credits_remaining;
        /** The states of the requested holds. */
        const states = async () => {
            const { rows } = await world.app.db.raw<{ rows: { state: string }[] }>(
                'select h.state from holds h join unnest(?::text[]) with ordinality as o (operation, n) using (operation) order by o.n',
                [asked],
            );
            return rows.map(({ state }) => state);
        };
        it('has an id that sorts after those of earlier calls', async () => {
            for (let calls = 0; calls < 8; calls++) expect((await thing()).status).to.equal(200);
            expect(asked).to.have.lengthOf(8);
            expect(asked).to.deep.equal(asked.toSorted());
        });

        it('is not made if a rate-limit window is full', async () => {
            const first = await thing();
            // Calls of the other kinds, each the first of its kind in this window.
            const others = await Promise.all(
                Array.from({ length: 9 }, () => ada.call('GET', `/v1/catalog/${SITE}?intent=${encodeURIComponent(INTENT)}`)),
            );
            expect(others.map(({ status }) => status)).to.deep.equal(Array(9).fill(200));
            const refused = await thing();
            expect([refused.status, codeOf(refused)]).to.deep.equal([429, 'RATE_LIMITED']);
            expect(await states()).to.deep.equal(['charged']);
            await world.clock.advance({ minutes: 2 });
            expect(remaining(await thing())).to.equal(remaining(first) - 1);
        });

        it('is not made if the circuit of its site is open', async () => {
            const first = await thing();
            site.behaviour = says(500);
            const many = await join(world, { overrides: { concurrency: 50, perMinute: 1000 } });
            // A busy machine may refuse some of them itself.
            await eventually(
                async () => {
                    const answers = await Promise.all(Array.from({ length: 20 }, () => many.fetch(SITE, 'thing')));
                    await world.app.circuits.flush();
                    return answers.map(codeOf);
                },
                (codes) => codes.includes('SITE_UNAVAILABLE'),
                20_000,
            );
            asked = [];
            const refused = await thing();
            expect([refused.status, codeOf(refused)]).to.deep.equal([503, 'SITE_UNAVAILABLE']);
            expect(asked).to.deep.equal([]);
            expect((await world.app.credits.balance(ada.userId))?.available).to.equal(remaining(first));
        });

        it('uses the newest version at once', async () => {
            await thing();
            const newer = flakyPackage(SITE, site.port, { title: 'Flaky, again' });
            expect((await owner.publish(newer)).status).to.equal(201);
            const answer = await thing();
            expect(codeOf(answer)).to.equal(undefined);
            expect((answer.body['meta'] as { version: number }).version).to.equal(2);
        });

        it('is not made for a stored response, nor for a dry run', async () => {
            await thing({ max_age: 60 });
            asked = [];
            await thing({ max_age: 60 });
            await thing({ dry_run: true });
            expect(asked).to.deep.equal([]);
        });
    });
}
