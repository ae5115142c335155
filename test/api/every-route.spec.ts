import { expect } from 'chai';
import { CONTRACTS } from '../../shared/contracts/index.ts';
import { CONNECTED, connectedPackage } from '../support/connections.ts';
import { join } from '../support/people.ts';
import { aProvenClaim, callRoute, dataOf, everyRoute } from '../support/routes.ts';
import { openShop, SHOP, SHOP_HOSTS, shopPackage } from '../support/shop.ts';
import { openWorld, TOPOLOGIES } from '../support/world.ts';

/** After them the site is another. */
const LAST = ['deleteConnection', 'postSchema', 'postYank'];

for (const topology of TOPOLOGIES) {
    // What each of them says in detail is the subject of the other specs; `callRoute` holds every answer against its contract.
    it(`every route of the API serves who asks rightly, over ${topology}`, async () => {
        const shop = await openShop();
        const world = await openWorld({ topology, config: { egressHosts: SHOP_HOSTS } });
        try {
            const maker = await join(world, { plan: 'starter' });
            const other = await join(world);
            dataOf(await maker.publish(shopPackage(shop.port)));
            dataOf(await maker.publish(connectedPackage(CONNECTED)));
            const connection = { site: CONNECTED, secret: { value: 'a-key-of-my-own' } };
            const { connection_id } = dataOf<{ connection_id: string }>(await maker.call('POST', '/v1/connections', { body: connection }));
            const asked = { domain: SHOP, task: 'Read the price of every product once a day.' };
            const { request_id } = dataOf<{ request_id: string }>(await maker.call('POST', '/v1/schema-requests', { body: asked }));
            const routes = everyRoute(SHOP, {
                workspace_id: other.workspaceId,
                request_id,
                claim_id: await aProvenClaim(world, maker, SHOP),
                connection_id,
                connected: CONNECTED,
            });
            const inOrder = routes.toSorted((a, b) => LAST.indexOf(a.contract.name) - LAST.indexOf(b.contract.name));
            const statuses = new Map<string, number>();
            for (const route of inOrder) statuses.set(route.contract.name, (await callRoute(maker, route)).status);
            const refused = [...statuses].filter(([, status]) => status !== 200 && status !== 201);
            expect(refused).to.deep.equal([]);
            expect(statuses.size).to.equal(CONTRACTS.length);
            expect(shop.seen.map(({ path }) => path)).to.deep.equal(['/products/1']);
        } finally {
            await world.close();
            await shop.close();
        }
    });
}
