import { expect } from 'chai';
import { countOpenJobs } from '../../shared/store/jobs/open-jobs.ts';
import {
    type Batch,
    type BatchWorld,
    change,
    ended,
    eventsOf,
    FLAKY,
    jobsOf,
    openBatchWorld,
    order,
    ordered,
    products,
    read,
    remove,
    resultsOf,
    someone,
} from '../support/batch-world.ts';
import { balanceOf } from '../support/credits.ts';
import { eventually } from '../support/eventually.ts';
import { type FlakySite, says } from '../support/flaky-site.ts';
import type { Person } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { ANY_TOPOLOGY, type World } from '../support/world.ts';

for (const topology of ANY_TOPOLOGY) {
    describe(`a batch, with queue and limits in ${topology}`, () => {
        let opened: BatchWorld;
        let world: World;
        let flaky: FlakySite;
        let ada: Person;

        before(async () => {
            opened = await openBatchWorld(topology);
            ({ world, flaky, ada } = opened);
        });
        beforeEach(() => {
            flaky.behaviour = 'well';
            flaky.letGo();
        });
        after(() => opened.close());

        it('is accepted at once, runs all items and reports its end once', async () => {
            const answer = await order(ada, { name: 'prices', items: products(20), metadata: { mine: 'red' } });
            expect(answer.status).to.equal(202);
            const batch = dataOf<Batch>(answer);
            expect(answer.headers.get('location')).to.equal(`/v1/batches/${batch.batch_id}`);
            expect(batch).to.deep.include({
                status: 'running',
                name: 'prices',
                metadata: { mine: 'red' },
                counts: { total: 20, queued: 20, running: 0, succeeded: 0, failed: 0, cancelled: 0, expired: 0 },
                credits: { used: 0, max: 20 },
                warnings: [],
            });
            const done = await ended(ada, batch);
            expect(done).to.deep.include({ status: 'succeeded', credits: { used: 20, max: 20 }, eta_seconds: null, waiting_for: null });
            expect(done.counts).to.deep.include({ total: 20, succeeded: 20 });
            const items = await resultsOf(ada, batch);
            expect(items.map(({ custom_id: name }) => name)).to.have.members(products(20).map(({ custom_id: name }) => name));
            expect(items.every(({ status, result }) => status === 'succeeded' && result !== null)).to.equal(true);
            expect(await eventsOf(world, batch)).to.deep.equal(['batch.finished']);
            expect(
                await world.app.db('events').whereIn(
                    'about',
                    items.map(({ job_id: id }) => id),
                ),
            ).to.deep.equal([]);
        });

        it('charges each item once, and says how many credits all items used', async () => {
            const eve = await someone(world);
            await ended(eve, await ordered(eve, { items: products(1) }));
            const before = await balanceOf(eve);
            const batch = await ordered(eve, { items: products(30) });
            await ended(eve, batch);
            expect(await balanceOf(eve)).to.equal(before - 30);
            expect((await resultsOf(eve, batch)).reduce((sum, { credits_used: used }) => sum + used, 0)).to.equal(30);
        });

        it('moves credits by holds of many items, which are charged in parts that name the batch and their number of items', async () => {
            const eve = await someone(world);
            const mixed = products(30).map((item, at) => (at % 3 === 0 ? { ...item, endpoint: 'status', params: { code: 404 } } : item));
            const batch = await ordered(eve, { items: mixed });
            await ended(eve, batch);
            const items = await resultsOf(eve, batch);
            const used = items.reduce((sum, { credits_used: credits }) => sum + credits, 0);
            expect(used).to.equal(20);
            const entries: { kind: string; available_delta: number; held_delta: number; items: number }[] = await world.app
                .db('ledger_entries')
                .where({ account_id: eve.workspaceId, batch_id: batch.batch_id })
                .select('kind', 'available_delta', 'held_delta', 'items');
            const sumOf = (kinds: string[], figure: (entry: (typeof entries)[number]) => number) =>
                entries.filter(({ kind }) => kinds.includes(kind)).reduce((sum, entry) => sum + figure(entry), 0);
            expect(sumOf(['charge'], (entry) => -entry.available_delta - entry.held_delta)).to.equal(used);
            expect(sumOf(['hold'], ({ items: count }) => count)).to.equal(30);
            expect(sumOf(['charge', 'release'], ({ items: count }) => count)).to.equal(30);
            expect(entries.filter(({ kind }) => kind === 'hold')).to.have.length.below(15);
            const holds = await world.app.db('holds').where({ batch_id: batch.batch_id }).select('items', 'charged');
            expect(holds.reduce((sum, { charged }) => sum + (charged ?? 0), 0)).to.equal(used);
            expect(holds.reduce((sum, { items: count }) => sum + count, 0)).to.equal(30);
        });

        it('uses no rate limit while an item waits for credits', async () => {
            const eve = await someone(world);
            const day = { name: 'day' as const, limit: 100_000, seconds: 86_400 };
            const left = async () =>
                (await world.app.limits.peek(`account:${eve.workspaceId}`, [day], eve.workspaceId)).windows[0]?.remaining ?? 0;
            flaky.behaviour = 'hangs';
            const batch = await ordered(eve, { defaults: { site: FLAKY, endpoint: 'thing' }, items: [{}, {}], max_credits: 1 });
            const looks = new Map<number, number>();
            await eventually(
                async () => {
                    const row = await world.app.db('batches').where({ batch_id: batch.batch_id }).first('waiting_for', 'due_at');
                    if (row.waiting_for === 'credits') looks.set(row.due_at.getTime(), await left());
                    return looks.size;
                },
                (count) => count >= 4,
                20_000,
            );
            const [, afterFirst, ...later] = looks.values();
            expect(new Set(later)).to.deep.equal(new Set([afterFirst]));
            await remove(eve, batch);
            flaky.letGo();
        });

        it('takes turns with other accounts and with other batches of its account', async () => {
            const [eve, bob] = [await someone(world), await someone(world)];
            const long = await ordered(eve, { items: products(400) });
            const short = await ordered(eve, { items: products(2) });
            const other = await ordered(bob, { items: products(2) });
            expect((await ended(eve, short)).status).to.equal('succeeded');
            expect((await ended(bob, other)).status).to.equal('succeeded');
            expect((await read(eve, long)).counts['queued']).to.be.greaterThan(0);
            await remove(eve, long);
        });

        it('is counted by what its items wait for', async () => {
            const eve = await someone(world);
            const batch = await ordered(eve, { items: products(3) });
            await change(eve, batch, 'pause');
            const counted = await countOpenJobs(world.app.db);
            const waiting = await world.app
                .db('jobs as j')
                .join('batches as b', 'b.batch_id', 'j.batch_id')
                .where({ 'j.status': 'queued', 'b.status': 'paused' });
            expect(counted.find(({ state }) => state === 'paused')?.jobs).to.equal(waiting.length);
            expect(counted.map(({ state }) => state)).to.include.members(['running', 'worker', 'credits', 'limits', 'site', 'storage']);
            await remove(eve, batch);
        });

        it('waits if the site fails for a moment, and tries again', async () => {
            const eve = await someone(world);
            flaky.behaviour = says(503, { 'retry-after': '60' });
            const batch = await ordered(eve, { defaults: { site: FLAKY, endpoint: 'thing' }, items: [{}, {}] });
            await eventually(
                () => jobsOf(world, batch).where({ attempts: 1, status: 'queued' }),
                (waiting) => waiting.length === 2,
                20_000,
            );
            flaky.behaviour = 'well';
            await world.clock.advance({ minutes: 2 });
            expect((await ended(eve, batch)).status).to.equal('succeeded');
        });
    });
}
