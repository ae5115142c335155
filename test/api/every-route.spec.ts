import { expect } from 'chai';
import { CONTRACTS } from '../../shared/contracts/index.ts';
import { API_KEY, CONNECTED, CONSENTED, connectedPackage, consentedPackage } from '../support/connections.ts';
import { join } from '../support/people.ts';
import { aProvenClaim, callRoute, dataOf, everyRoute } from '../support/routes.ts';
import { openShop, SHOP, SHOP_HOSTS, shopPackage } from '../support/shop.ts';
import { ANY_TOPOLOGY, openWorld } from '../support/world.ts';

/** These routes run last, since they change the site. */
const LAST = ['deleteWebhook', 'deleteOAuthClient', 'deleteConnection', 'postSchema', 'postYank'];
/** 202 Accepted is a success too. */
const SUCCESSES = [200, 201, 202];

for (const topology of ANY_TOPOLOGY) {
    // Other specs check the details; `callRoute` checks every response against its contract.
    it(`every route of the API answers a valid request, over ${topology}`, async () => {
        const shop = await openShop();
        const egressHosts = new Map([...SHOP_HOSTS, [CONNECTED, ['127.0.0.1']]]);
        const world = await openWorld({ topology, config: { egressHosts } });
        try {
            const maker = await join(world, { plan: 'starter' });
            const other = await join(world);
            dataOf(await maker.publish(shopPackage(shop.port)));
            const auth = [{ ...API_KEY, test: 'mine' }];
            dataOf(await maker.publish(connectedPackage(CONNECTED, { auth, base: `http://${CONNECTED}:${shop.port}` })));
            dataOf(await maker.publish(consentedPackage()));
            dataOf(await maker.call('PUT', `/v1/oauth-clients/${CONSENTED}`, { body: { client_id: 'x' } }));
            const connection = { site: CONNECTED, secret: { value: 'a-key-of-my-own' } };
            const { connection_id } = dataOf<{ connection_id: string }>(await maker.call('POST', '/v1/connections', { body: connection }));
            const asked = { domain: SHOP, task: 'Read the price of every product once a day.' };
            const { request_id } = dataOf<{ request_id: string }>(await maker.call('POST', '/v1/schema-requests', { body: asked }));
            const hook = { url: 'https://127.0.0.1/hook', events: ['monitor.failing'] };
            const { webhook_id } = dataOf<{ webhook_id: string }>(await maker.call('POST', '/v1/webhooks', { body: hook }));
            const test = await maker.call('POST', `/v1/webhooks/${webhook_id}/test`);
            const { delivery_id } = dataOf<{ delivery_id: string }>(test);
            const ordered = { site: SHOP, endpoint: 'held' };
            const { job_id } = dataOf<{ job_id: string }>(await maker.call('POST', '/v1/jobs', { body: ordered }));
            const many = { defaults: ordered, items: [{}] };
            const { batch_id } = dataOf<{ batch_id: string }>(await maker.call('POST', '/v1/batches', { body: many }));
            await shop.waiting(2);
            const watched = { site: SHOP, endpoint: 'product', params: { id: 2 }, cron: '0 8 1 1 *' };
            const { monitor_id } = dataOf<{ monitor_id: string }>(await maker.call('POST', '/v1/monitors', { body: watched }));
            const routes = everyRoute(SHOP, {
                monitor_id,
                workspace_id: other.workspaceId,
                request_id,
                job_id,
                webhook_id,
                delivery_id,
                batch_id,
                claim_id: await aProvenClaim(world, maker, SHOP),
                connection_id,
                connected: CONNECTED,
                consented: CONSENTED,
            });
            const inOrder = routes.toSorted((a, b) => LAST.indexOf(a.contract.name) - LAST.indexOf(b.contract.name));
            const statuses = new Map<string, number>();
            let posted = '';
            let batch = '';
            for (const route of inOrder) {
                const answer = await callRoute(maker, route);
                statuses.set(route.contract.name, answer.status);
                if (route.contract.name === 'postJob') posted = dataOf<{ job_id: string }>(answer).job_id;
                if (route.contract.name === 'postBatch') batch = dataOf<{ batch_id: string }>(answer).batch_id;
            }
            const refused = [...statuses].filter(([, status]) => !SUCCESSES.includes(status));
            expect(refused).to.deep.equal([]);
            expect(statuses.size).to.equal(CONTRACTS.length);
            // The fetch, both jobs and both batches, beside the tests of connections and the run of a monitor.
            await maker.call('GET', `/v1/jobs/${posted}?wait=30`);
            await maker.call('GET', `/v1/batches/${batch}?wait=30`);
            const fetched = shop.seen.map(({ path }) => path).filter((path) => path !== '/echo/mine' && path !== '/products/2');
            expect(fetched.toSorted()).to.deep.equal(['/held', '/held', '/products/1', '/products/1', '/products/1']);
        } finally {
            await world.close();
            await shop.close();
        }
    });
}
