import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { join } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { openWorld, type World } from '../support/world.ts';

const SITE = 'stock.test';
const ITEMS = 12_000;
/** Bytes that may remain for each item: caches and statistics are limited, and vary by less than this. */
const MAX_PER_ITEM = 400;

describe('the memory of a worker', function () {
    this.timeout(1_800_000);
    let site: Server;
    let world: World;

    before(async () => {
        site = createServer((_request, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":1}'));
        await once(site.listen(0, '127.0.0.1'), 'listening');
        world = await openWorld({ config: { egressHosts: new Map([[SITE, ['127.0.0.1']]]) } });
    });
    after(async () => {
        await world.close();
        site.close();
    });

    it('does not grow with the items of a batch that it has run (J2)', async () => {
        const overrides = { perMinute: 1e6, perHour: 1e6, perDay: 1e6, allowance: 1e6, concurrency: 100 };
        const ada = await join(world, { plan: 'enterprise', overrides });
        const url = `http://${SITE}:${(site.address() as AddressInfo).port}/stock`;
        dataOf(await ada.publish(aPackage(SITE, { endpoints: [anEndpoint(SITE, { name: 'stock', url, params: [] })] })));
        const { batch_id: id } = dataOf<{ batch_id: string }>(
            await ada.call('POST', `/v1/batches?site=${SITE}&endpoint=stock`, {
                body: '{"params":{}}\n'.repeat(ITEMS),
                headers: { 'content-type': 'application/x-ndjson' },
            }),
        );
        const heapAt = async (ended: number) => {
            const endedNow = async () => Number((await world.app.db('batches').where({ batch_id: id }).first('ends')).ends);
            await eventually(endedNow, (now) => now >= ended, 1_800_000);
            return { items: await endedNow(), bytes: heapInUse() };
        };
        const early = await heapAt(ITEMS / 4);
        const late = await heapAt(ITEMS);
        const perItem = (late.bytes - early.bytes) / (late.items - early.items);
        console.log(`      ${Math.round(perItem)} bytes an item, from ${Math.round(early.bytes / 1e6)} MB on`);
        expect(perItem).to.be.below(MAX_PER_ITEM);
    });
});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heapInUse(): number {
    collectGarbage();
    return process.memoryUsage().heapUsed;
}
