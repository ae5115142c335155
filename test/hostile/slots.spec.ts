import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { type Answer, join, type Person } from '../support/people.ts';
import { codeOf, dataOf } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { openSite, type Site } from '../support/sites.ts';
import { openWorld, TOPOLOGIES, type World } from '../support/world.ts';

const SLOTS = 128;
/** More than one, since a site may have half of the slots. */
const SLOW = ['slow-a.test', 'slow-b.test', 'slow-c.test', 'slow-d.test'];
const GOOD = 'good.test';
/** Each has as many concurrent fetches as Free allows. Together these are more than the slots. */
const STRANGERS = 32;
const AT_ONCE = 5;

for (const topology of TOPOLOGIES) {
    describe(`while free accounts fetch sites that do not answer, over ${topology}`, () => {
        let world: World;
        let site: Site;
        let paying: Person;
        let free: Person;
        const held = new Set<ServerResponse>();
        const flood: Promise<Answer>[] = [];
        const refused: (string | undefined)[] = [];

        before(async () => {
            site = await openSite((request, response) => {
                if (request.headers.host?.startsWith('slow')) held.add(response);
                else answer(response);
            });
            const egressHosts = new Map([...SLOW, GOOD].map((name): [string, string[]] => [name, ['127.0.0.1']]));
            world = await openWorld({ topology, config: { egressHosts, workerConcurrency: SLOTS } });
            [paying, free] = await Promise.all([join(world, { plan: 'starter' }), join(world)]);
            for (const name of [...SLOW, GOOD]) {
                const url = `http://${name}:${site.port}/products/{id}`;
                dataOf(await paying.publish(aPackage(name, { endpoints: [anEndpoint(name, { url })] })));
            }
            const strangers = await Promise.all(Array.from({ length: STRANGERS }, () => join(world)));
            for (let call = 0; call < STRANGERS * AT_ONCE; call++) {
                // Each stranger gets one slot before any gets a second one.
                if (call === STRANGERS)
                    await eventually(
                        async () => held.size,
                        (count) => count === STRANGERS,
                    );
                const stranger = strangers[call % STRANGERS] as Person;
                const fetched = stranger.fetch(SLOW[call % SLOW.length] ?? '', 'product', { id: 1 }, { timeout_ms: 120_000 });
                flood.push(fetched);
                void fetched.then((ended) => refused.push(codeOf(ended)));
            }
            await eventually(
                async () => held.size + refused.length,
                (settled) => settled === flood.length || held.size === SLOTS,
            );
        });
        after(async () => {
            for (const response of held) answer(response);
            await Promise.all(flood);
            await world.close();
            await site.close();
        });

        it('they get about half of the slots, and their other fetches are refused', () => {
            expect([...new Set(refused)]).to.deep.equal(['OVERLOADED']);
            expect(held.size)
                .to.be.at.least(SLOTS / 2)
                .and.below(SLOTS * 0.75);
        });

        it('a paying account is served', async () => {
            expect(codeOf(await paying.fetch(GOOD, 'product', { id: 1 }, { timeout_ms: 5000 })) ?? 'success').to.equal('success');
        });

        it('a job of a paying account runs', async () => {
            const { job_id: id } = dataOf(
                await paying.call('POST', '/v1/jobs', { body: { site: GOOD, endpoint: 'product', params: { id: 1 } } }),
            );
            expect(dataOf(await paying.call('GET', `/v1/jobs/${id}?wait=10`))['status']).to.equal('succeeded');
        });

        it('another free account is served as well', async () => {
            expect(codeOf(await free.fetch(GOOD, 'product', { id: 1 }, { timeout_ms: 5000 })) ?? 'success').to.equal('success');
        });
    });
}

function answer(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"id": 1}');
}
