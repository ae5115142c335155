import { connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import type { Batch } from '../../shared/contracts/batch-fields.ts';
import { eventually } from '../support/eventually.ts';
import { join, type Person } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { openSite, type Site } from '../support/sites.ts';
import { openWorld, type World } from '../support/world.ts';

const SITE = 'large.test';
const MIB = 1024 * 1024;
const RESULT = 3 * MIB;
const DOWNLOADS = 48;
const BUDGET_MIB = 128;

describe('large results of a batch that many callers begin to download and do not read', function () {
    this.timeout(240_000);
    let world: World;
    let site: Site;
    let eve: Person;
    let batch: Batch;
    const callers: Socket[] = [];

    before(async () => {
        setFlagsFromString('--expose-gc');
        site = await openSite((_request, response) => {
            response.setHeader('content-type', 'application/json').end(JSON.stringify({ text: 'x'.repeat(RESULT) }));
        });
        world = await openWorld({ config: { egressHosts: new Map([[SITE, ['127.0.0.1']]]) } });
        eve = await join(world);
        const url = `http://${SITE}:${site.port}/products/{id}`;
        dataOf(await eve.publish(aPackage(SITE, { endpoints: [anEndpoint(SITE, { url, response: { type: 'json' } })] })));
        const items = [1, 2, 3].map((id) => ({ site: SITE, endpoint: 'product', params: { id } }));
        const { batch_id } = dataOf<Batch>(await eve.call('POST', '/v1/batches', { body: { items } }));
        batch = dataOf<Batch>(await eve.call('GET', `/v1/batches/${batch_id}?wait=30`));
        expect(batch.counts.succeeded).to.equal(3);
    });
    after(async () => {
        for (const caller of callers) caller.destroy();
        await world.close();
        await site.close();
    });

    const used = () => {
        (runInNewContext('gc') as () => void)();
        const { heapUsed, external } = process.memoryUsage();
        return (heapUsed + external) / MIB;
    };

    /** Begins a download, and resolves when its first bytes have arrived. The rest stays unread. */
    async function begin(): Promise<void> {
        const { hostname, port } = new URL(world.base);
        const caller = connect(Number(port), hostname).on('error', () => undefined);
        callers.push(caller);
        const head = [`GET /v1/batches/${batch.batch_id}/results HTTP/1.1`, 'Host: x', `Authorization: Bearer ${eve.apiKey}`];
        caller.write(`${[...head, 'Accept: application/x-ndjson'].join('\r\n')}\r\n\r\n`);
        await new Promise((done) => caller.once('readable', done));
    }

    it('are cut off until they take no more of an API than twice its budget for unread answers', async () => {
        const before = used();
        await Promise.all(Array.from({ length: DOWNLOADS }, begin));
        // Before that, the downloads may still grow.
        await eventually(
            async () => world.logged.some(({ message }) => String(message).includes('their connections were cut')),
            (isCut) => isCut,
            20_000,
        );
        await eventually(
            async () => used() - before,
            (grown) => grown < 2 * BUDGET_MIB,
            20_000,
        );
    });
});
