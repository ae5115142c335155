import { connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import type { Batch } from '../../shared/contracts/batch-fields.ts';
import { EVERY_SCOPE } from '../../shared/domain/accounts/scopes.ts';
import { createKey, revokeKey } from '../../shared/store/accounts/api-keys.ts';
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

describe('large results of a batch that many callers begin to download and do not read', () => {
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
        batch = await run(3);
    });

    async function run(count: number): Promise<Batch> {
        const items = Array.from({ length: count }, (_, id) => ({ site: SITE, endpoint: 'product', params: { id: id + 1 } }));
        const { batch_id } = dataOf<Batch>(await eve.call('POST', '/v1/batches', { body: { items } }));
        const ended = dataOf<Batch>(await eve.call('GET', `/v1/batches/${batch_id}?wait=30`));
        expect(ended.counts.succeeded).to.equal(count);
        return ended;
    }
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

    it('break off when the key of their caller is revoked', async () => {
        const { batch_id } = await run(12);
        const { keyId, apiKey } = await createKey(world.app.db, { ...eve, name: 'leaked', scopes: EVERY_SCOPE });
        const headers = { authorization: `Bearer ${apiKey}`, accept: 'application/x-ndjson', 'accept-encoding': 'identity' };
        const answer = await fetch(`${world.base}/v1/batches/${batch_id}/results`, { headers });
        let bytes = 0;
        const readAll = async () => {
            for await (const chunk of answer.body ?? []) {
                if (bytes === 0) await revokeKey(world.app.db, keyId);
                bytes += chunk.length;
            }
        };
        expect(await readAll().catch((error: Error) => error.message)).to.equal('terminated');
        expect(bytes)
            .to.be.above(0)
            .and.below(12 * RESULT);
    });

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
