import { expect } from 'chai';
import { countRows } from '../../shared/platform/db.ts';
import * as ledger from '../../shared/store/credits/ledger.ts';
import { eventually } from '../support/eventually.ts';
import { join } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { openShop, SHOP, SHOP_HOSTS, shopPackage } from '../support/shop.ts';
import { ANY_TOPOLOGY } from '../support/world.ts';
import { openWorldOfProcesses } from '../support/world-of-processes.ts';

const ITEMS = 200;
/** One in this many fails for good. */
const FAILING = 10;

interface Batch {
    batch_id: string;
    status: string;
    counts: Record<string, number>;
    credits: { used: number };
}

for (const topology of ANY_TOPOLOGY) {
    it(`a batch whose worker is killed ends each item once, and charges it once (${topology})`, async () => {
        const shop = await openShop();
        const processes = await openWorldOfProcesses(topology, SHOP_HOSTS);
        const { world } = processes;
        try {
            const ada = await join(world, { plan: 'enterprise', overrides: { perMinute: 100_000, perHour: 100_000, perDay: 100_000 } });
            await ada.publish(shopPackage(shop.port));
            const items = Array.from({ length: ITEMS }, (_, at) =>
                at % FAILING === 0 ? { endpoint: 'status', params: { code: 404 } } : { endpoint: 'product', params: { id: at } },
            );
            const first = await processes.startWorker();
            const { batch_id: id } = dataOf<Batch>(
                await ada.call('POST', '/v1/batches', { body: { defaults: { site: SHOP, timeout_ms: 5000 }, items } }),
            );
            const read = async (wait = 0) => dataOf<Batch>(await ada.call('GET', `/v1/batches/${id}?wait=${wait}`));
            // Read in the database, since an account's reads are rate-limited.
            const begun = () => countRows(world.app.db('jobs').where({ batch_id: id }).whereNot({ status: 'queued' }));
            const hasMore = (than: number) => eventually(begun, (count) => count > than, 60_000);
            await hasMore(40);
            first.signal('SIGKILL');
            await processes.startWorker();
            const done = await eventually(
                () => read(30),
                ({ status }) => status !== 'running',
                90_000,
            ).then(() => read());
            expect([done.status, done.counts['succeeded'], done.counts['failed']]).to.deep.equal([
                'finished',
                ITEMS - ITEMS / FAILING,
                ITEMS / FAILING,
            ]);
            const results = dataOf<{ job_id: string; credits_used: number }[]>(
                await ada.call('GET', `/v1/batches/${id}/results?limit=1000`),
            );
            expect(new Set(results.map(({ job_id: job }) => job)).size).to.equal(ITEMS);
            const used = results.reduce((sum, { credits_used: credits }) => sum + credits, 0);
            const { rows } = await world.app.db.raw('select coalesce(sum(charged), 0)::integer as charged from holds');
            const price = ITEMS - ITEMS / FAILING;
            const { rows: moved } = await world.app.db.raw(
                `select sum(items) filter (where kind = 'hold')::integer as held,
                        sum(items) filter (where kind in ('charge', 'release'))::integer as ended,
                        sum(-available_delta - held_delta) filter (where kind = 'charge')::integer as charged
                 from ledger_entries where batch_id = ?`,
                [id],
            );
            // Items that ran when the worker died were held twice.
            expect(moved[0].held).to.equal(moved[0].ended).and.to.be.at.least(ITEMS);
            expect(moved[0].charged).to.equal(price);
            expect([used, done.credits.used, rows[0].charged]).to.deep.equal([price, price, price]);
            expect(await ledger.totalHeld(world.app.db)).to.equal(0);
            const row = await world.app.db('batches').where({ batch_id: id }).first('credits_held', 'ends');
            expect(row).to.deep.equal({ credits_held: 0, ends: ITEMS });
            expect((await world.app.db('events').where({ about: id })).map(({ type }) => type)).to.deep.equal(['batch.finished']);
        } finally {
            shop.letGo();
            await processes.close();
            await shop.close();
        }
    });
}
