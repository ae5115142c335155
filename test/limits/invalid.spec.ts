import { expect } from 'chai';
import { INVALID_A_MINUTE } from '../../api/admission/invalid-requests.ts';
import { join, type Person } from '../support/people.ts';
import { codeOf } from '../support/routes.ts';
import { TOPOLOGIES, useWorld } from '../support/world.ts';

for (const topology of TOPOLOGIES) {
    describe(`calls with status 400, over ${topology}`, () => {
        const world = useWorld({ topology, workers: 0 });

        /** Sets the account's count of 400 responses in this minute. */
        async function haveFailed({ userId }: Person, count: number): Promise<void> {
            const windows = [{ name: 'minute', limit: INVALID_A_MINUTE, seconds: 60 }] as const;
            const take = () => world.app.limits.take({ identity: `invalid:${userId}`, windows });
            for (let sent = 0; sent < count; sent += 50) await Promise.all(Array.from({ length: Math.min(50, count - sent) }, take));
        }
        const bad = (person: Person) => person.call('POST', '/v1/fetch', { body: '{' });
        const look = (person: Person) => person.call('GET', '/v1/catalog/absent.test?intent=find+all+the+cheap+words+of+this+site');

        it('are limited to 600 a minute for an account, over all counted routes; then all of these are refused before their bodies', async () => {
            const [eve, ada] = [await join(world), await join(world)];
            await haveFailed(eve, INVALID_A_MINUTE - 2);
            expect((await bad(eve)).status).to.equal(400);
            expect((await eve.call('GET', '/v1/catalog/absent.test?intent=x')).status).to.equal(400);
            for (const answer of [await bad(eve), await look(eve), await eve.fetch('absent.test', 'x')]) {
                expect([answer.status, codeOf(answer)]).to.deep.equal([429, 'RATE_LIMITED']);
                const { message, retry_after } = answer.body['error'] as { message: string; retry_after: number };
                expect(message).to.include('The window invalid');
                expect(retry_after).to.be.within(50, 60);
                expect(answer.headers.get('retry-after')).to.equal(String(retry_after));
                expect(answer.headers.get('ratelimit-policy')).to.be.a('string');
            }
            expect((await eve.call('GET', '/v1/account')).status, 'another route').to.equal(200);
            expect((await bad(ada)).status, 'another account').to.equal(400);
            expect((await look(ada)).status).to.equal(404);
            await world.clock.advance({ minutes: 1 });
            expect((await bad(eve)).status).to.equal(400);
        });

        it('do not include valid calls: a 404 and a 200 count in the windows of the plan only', async () => {
            const ada = await join(world);
            await haveFailed(ada, INVALID_A_MINUTE - 1);
            expect((await look(ada)).status).to.equal(404);
            expect((await ada.fetch('absent.test', 'x')).status).to.equal(404);
            expect((await bad(ada)).status).to.equal(400);
            expect((await look(ada)).status).to.equal(429);
        });

        it('of an enterprise account are not counted', async () => {
            const large = await join(world, { plan: 'enterprise' });
            await haveFailed(large, INVALID_A_MINUTE);
            for (let count = 0; count < 3; count++) expect((await bad(large)).status).to.equal(400);
        });
    });
}
