import { expect } from 'chai';
import { type MoodySite, moodyPackage, openMoodySite, says } from '../support/moody-site.ts';
import { type Answer, join, type Person } from '../support/people.ts';
import { codeOf } from '../support/routes.ts';
import { openWorld, TOPOLOGIES, type World } from '../support/world.ts';

const SITE = 'usual.test';
const INTENT = 'Find the thing that everybody looks for, and tell me how it is doing today';
const HOSTS: ReadonlyMap<string, readonly string[]> = new Map([[SITE, ['127.0.0.1']]]);

for (const topology of TOPOLOGIES) {
    describe(`a fetch like one that just went through, over ${topology}`, () => {
        let world: World;
        let site: MoodySite;
        let owner: Person;
        let ada: Person;
        /** Operations that asked for a hold. */
        let asked: string[];

        beforeEach(async function () {
            this.timeout(30_000);
            site = await openMoodySite();
            world = await openWorld({ topology, config: { egressHosts: HOSTS } });
            owner = await join(world);
            ada = await join(world, { overrides: { perMinute: 10 } });
            expect((await owner.publish(moodyPackage(SITE, site.port))).status).to.equal(201);
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
        /** What became of the holds that were asked for. */
        const states = async () => {
            const { rows } = await world.app.db.raw<{ rows: { state: string }[] }>(
                'select h.state from holds h join unnest(?::text[]) with ordinality as o (operation, n) using (operation) order by o.n',
                [asked],
            );
            return rows.map(({ state }) => state);
        };
        /** From now on a call is counted once a hold was asked for, and not before. */
        const countAfterHold = () => {
            const { limits, credits } = world.app;
            const [{ take }, { hold }] = [limits, credits];
            const holds = Promise.withResolvers<void>();
            credits.hold = (order) => {
                holds.resolve();
                return hold(order);
            };
            limits.take = async (order) => {
                await holds.promise;
                return take(order);
            };
        };

        it('has its credits held while it is counted, and not after it', async () => {
            const first = await thing();
            countAfterHold();
            const second = await thing();
            expect([codeOf(second), remaining(second)]).to.deep.equal([undefined, remaining(first) - 1]);
            expect(await states()).to.deep.equal(['charged', 'charged']);
        });

        it('is refused as any other where its window is full, and nothing stays held', async () => {
            const first = await thing();
            // Calls of another kind, each the first of its kind in this window.
            const others = await Promise.all(
                Array.from({ length: 9 }, () => ada.call('GET', `/v1/catalog/${SITE}?intent=${encodeURIComponent(INTENT)}`)),
            );
            expect(others.map(({ status }) => status)).to.deep.equal(Array(9).fill(200));
            countAfterHold();
            const refused = await thing();
            expect([refused.status, codeOf(refused)]).to.deep.equal([429, 'RATE_LIMITED']);
            expect(await states()).to.deep.equal(['charged', 'released']);
            await world.clock.advance({ minutes: 2 });
            expect(remaining(await thing())).to.equal(remaining(first) - 1);
        });

        it('is refused where its site fell ill since, and nothing stays held', async () => {
            const first = await thing();
            site.mood = says(500);
            const many = await join(world, { overrides: { concurrency: 50, perMinute: 1000 } });
            await Promise.all(Array.from({ length: 20 }, () => many.fetch(SITE, 'thing')));
            await world.app.circuits.flush();
            asked = [];
            const refused = await thing();
            expect([refused.status, codeOf(refused)]).to.deep.equal([503, 'SITE_UNAVAILABLE']);
            expect(await states()).to.deep.equal(['released']);
            asked = [];
            expect(codeOf(await thing())).to.equal('SITE_UNAVAILABLE');
            expect(await states()).to.deep.equal([], 'one like the last one, which was refused, holds nothing ahead');
            expect((await world.app.credits.balance(ada.userId))?.available).to.equal(remaining(first));
        });

        it('is held anew where there is a newer version since', async () => {
            await thing();
            const newer = moodyPackage(SITE, site.port, { title: 'Moody, again' });
            expect((await owner.publish(newer)).status).to.equal(201);
            const answer = await thing();
            expect(codeOf(answer)).to.equal(undefined);
            expect((answer.body['meta'] as { version: number }).version).to.equal(2);
        });

        it('waits for its count where it asks for a kept answer, or for nothing but the price', async () => {
            await thing({ max_age: 60 });
            asked = [];
            await thing({ max_age: 60 });
            await thing({ dry_run: true });
            expect(asked).to.deep.equal([]);
        });
    });
}
