import { expect } from 'chai';
import { countOpenJobs } from '../../shared/store/jobs/open-jobs.ts';
import {
    type Batch,
    change,
    ended,
    eventsOf,
    FLAKY,
    jobsOf,
    order,
    ordered,
    products,
    read,
    remove,
    resultsOf,
    someone,
    useBatchWorld,
} from '../support/batch-world.ts';
import { balanceOf } from '../support/credits.ts';
import { eventually } from '../support/eventually.ts';
import { says } from '../support/flaky-site.ts';
import { join } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { ANY_TOPOLOGY } from '../support/world.ts';

for (const topology of ANY_TOPOLOGY) {
    describe(`a batch, with queue and limits in ${topology}`, () => {
        const opened = useBatchWorld(topology);

        it('is accepted at once, runs all items and reports its end once', async () => {
            const answer = await order(opened.ada, { name: 'prices', items: products(20), metadata: { mine: 'red' } });
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
            const done = await ended(opened.ada, batch);
            expect(done).to.deep.include({ status: 'succeeded', credits: { used: 20, max: 20 }, eta_seconds: null, waiting_for: null });
            expect(done.counts).to.deep.include({ total: 20, succeeded: 20 });
            const items = await resultsOf(opened.ada, batch);
            expect(items.map(({ custom_id: name }) => name)).to.have.members(products(20).map(({ custom_id: name }) => name));
            expect(items.every(({ status, result }) => status === 'succeeded' && result !== null)).to.equal(true);
            expect(await eventsOf(opened.world, batch)).to.deep.equal(['batch.finished']);
            expect(
                await opened.world.app.db('events').whereIn(
                    'about',
                    items.map(({ job_id: id }) => id),
                ),
            ).to.deep.equal([]);
        });

        it('charges each item once, and says how many credits all items used', async () => {
            const eve = await someone(opened.world);
            await ended(eve, await ordered(eve, { items: products(1) }));
            const before = await balanceOf(eve);
            const batch = await ordered(eve, { items: products(30) });
            await ended(eve, batch);
            expect(await balanceOf(eve)).to.equal(before - 30);
            expect((await resultsOf(eve, batch)).reduce((sum, { credits_used: used }) => sum + used, 0)).to.equal(30);
        });

        it('moves credits by holds of many items, which are charged in parts that name the batch and their number of items', async () => {
            const eve = await someone(opened.world);
            const mixed = products(30).map((item, at) => (at % 3 === 0 ? { ...item, endpoint: 'status', params: { code: 404 } } : item));
            const batch = await ordered(eve, { items: mixed });
            await ended(eve, batch);
            const items = await resultsOf(eve, batch);
            const used = items.reduce((sum, { credits_used: credits }) => sum + credits, 0);
            expect(used).to.equal(20);
            const entries: { kind: string; available_delta: number; held_delta: number; items: number }[] = await opened.world.app
                .db('ledger_entries')
                .where({ account_id: eve.workspaceId, batch_id: batch.batch_id })
                .select('kind', 'available_delta', 'held_delta', 'items');
            const sumOf = (kinds: string[], figure: (entry: (typeof entries)[number]) => number) =>
                entries.filter(({ kind }) => kinds.includes(kind)).reduce((sum, entry) => sum + figure(entry), 0);
            expect(sumOf(['charge'], (entry) => -entry.available_delta - entry.held_delta)).to.equal(used);
            expect(sumOf(['hold'], ({ items: count }) => count)).to.equal(30);
            expect(sumOf(['charge', 'release'], ({ items: count }) => count)).to.equal(30);
            expect(entries.filter(({ kind }) => kind === 'hold')).to.have.length.below(15);
            const holds = await opened.world.app.db('holds').where({ batch_id: batch.batch_id }).select('items', 'charged');
            expect(holds.reduce((sum, { charged }) => sum + (charged ?? 0), 0)).to.equal(used);
            expect(holds.reduce((sum, { items: count }) => sum + count, 0)).to.equal(30);
        });

        it('uses no rate limit while an item waits for credits', async () => {
            const eve = await someone(opened.world);
            const day = { name: 'day' as const, limit: 100_000, seconds: 86_400 };
            const left = async () =>
                (await opened.world.app.limits.peek(`account:${eve.workspaceId}`, [day], eve.workspaceId)).windows[0]?.remaining ?? 0;
            opened.flaky.behaviour = 'hangs';
            const batch = await ordered(eve, { defaults: { site: FLAKY, endpoint: 'thing' }, items: [{}, {}], max_credits: 1 });
            const looks = new Map<number, number>();
            await eventually(
                async () => {
                    const row = await opened.world.app.db('batches').where({ batch_id: batch.batch_id }).first('waiting_for', 'due_at');
                    if (row.waiting_for === 'credits') looks.set(row.due_at.getTime(), await left());
                    return looks.size;
                },
                (count) => count >= 4,
                20_000,
            );
            const [, afterFirst, ...later] = looks.values();
            expect(new Set(later)).to.deep.equal(new Set([afterFirst]));
            await remove(eve, batch);
            opened.flaky.letGo();
        });

        it('says of each of its items why all of them wait', async () => {
            const eve = await join(opened.world, { plan: 'enterprise', overrides: { allowance: 3, concurrency: 3 } });
            // The first success brings a bonus of 50.
            const batch = await ordered(eve, { items: products(70) });
            await eventually(
                () => read(eve, batch),
                ({ waiting_for: reason, counts }) => reason === 'credits' && counts['queued'] === 17,
                20_000,
            );
            const queued = await eve.call('GET', `/v1/jobs?batch_id=${batch.batch_id}&status=queued`);
            expect(new Set(dataOf<{ waiting_for: string }[]>(queued).map(({ waiting_for: reason }) => reason))).to.have.all.keys('credits');
            await remove(eve, batch);
        });

        it('takes turns with other accounts and with other batches of its account', async () => {
            const [eve, bob] = [await someone(opened.world), await someone(opened.world)];
            const long = await ordered(eve, { items: products(400) });
            const short = await ordered(eve, { items: products(2) });
            const other = await ordered(bob, { items: products(2) });
            expect((await ended(eve, short)).status).to.equal('succeeded');
            expect((await ended(bob, other)).status).to.equal('succeeded');
            expect((await read(eve, long)).counts['queued']).to.be.greaterThan(0);
            await remove(eve, long);
        });

        it('is counted by what its items wait for', async () => {
            const eve = await someone(opened.world);
            const batch = await ordered(eve, { items: products(3) });
            await change(eve, batch, 'pause');
            const counted = await countOpenJobs(opened.world.app.db);
            const waiting = await opened.world.app
                .db('jobs as j')
                .join('batches as b', 'b.batch_id', 'j.batch_id')
                .where({ 'j.status': 'queued', 'b.status': 'paused' });
            expect(counted.find(({ state }) => state === 'paused')?.jobs).to.equal(waiting.length);
            expect(counted.map(({ state }) => state)).to.include.members(['running', 'worker', 'credits', 'limits', 'site', 'storage']);
            await remove(eve, batch);
        });

        it('waits if the site fails for a moment, and tries again', async () => {
            const eve = await someone(opened.world);
            opened.flaky.behaviour = says(503, { 'retry-after': '60' });
            const batch = await ordered(eve, { defaults: { site: FLAKY, endpoint: 'thing' }, items: [{}, {}] });
            await eventually(
                () => jobsOf(opened.world, batch).where({ attempts: 1, status: 'queued' }),
                (waiting) => waiting.length === 2,
                20_000,
            );
            opened.flaky.behaviour = 'well';
            await opened.world.clock.advance({ minutes: 2 });
            expect((await ended(eve, batch)).status).to.equal('succeeded');
        });
    });
}
