import { expect } from 'chai';
import { changePlan } from '../../shared/store/credits/accounts.ts';
import { pauseJobs, resumeJobs } from '../../shared/store/jobs/pauses.ts';
import { setDomain } from '../../shared/store/registry/sites.ts';
import {
    type Batch,
    change,
    ended,
    eventsOf,
    FLAKY,
    type Item,
    jobsOf,
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
import { codeOf, dataOf, detailsOf } from '../support/routes.ts';
import { SHOP } from '../support/shop.ts';
import { ANY_TOPOLOGY } from '../support/world.ts';

for (const topology of ANY_TOPOLOGY) {
    describe(`a batch under control of its owner, with queue and limits in ${topology}`, () => {
        const opened = useBatchWorld(topology);

        it('with failed items is finished, and only these are retried', async () => {
            const eve = await someone(opened.world);
            const items = [...products(3), { endpoint: 'status', params: { code: 404 }, custom_id: 'gone' }];
            const batch = await ordered(eve, { items });
            const done = await ended(eve, batch);
            expect([done.status, done.counts['failed'], done.counts['succeeded']]).to.deep.equal(['finished', 1, 3]);
            expect((await resultsOf(eve, batch, '&status=failed')).map(({ custom_id: name, error }) => [name, error?.code])).to.deep.equal([
                ['gone', 'UPSTREAM_STATUS'],
            ]);
            expect(dataOf<Batch>(await change(eve, batch, 'retry', { codes: ['UPSTREAM_TIMEOUT'] }))).to.deep.include({
                retried: 0,
                status: 'finished',
            });
            const misspelt = await change(eve, batch, 'retry', { codes: ['UPSTREAM_STATUS', 'UPSTREAM_STATE'] });
            expect([misspelt.status, ...detailsOf(misspelt)]).to.deep.equal([400, '/codes/1 INVALID_VALUE']);
            expect(misspelt.text).to.contain('GET /v1/errors');
            const retried = dataOf<Batch>(await change(eve, batch, 'retry'));
            expect([retried.retried, retried.status, retried.finished_at]).to.deep.equal([1, 'running', null]);
            expect((await ended(eve, batch)).counts).to.deep.include({ failed: 1, succeeded: 3 });
            expect(await eventsOf(opened.world, batch)).to.deep.equal(['batch.finished', 'batch.finished']);
            expect(await resultsOf(eve, batch)).to.have.length(4);
        });

        it('is priced again by a retry, which says what it costs at most', async () => {
            const eve = await someone(opened.world);
            const gone = { endpoint: 'status', params: { code: 404 } };
            const batch = await ordered(eve, { items: [...products(2), gone, { ...gone, max_credits: 3 }] });
            expect((await ended(eve, batch)).credits).to.deep.equal({ used: 2, max: 4 });
            try {
                await setDomain(opened.world.app.db, SHOP, { credits: 3 });
                await eventually(
                    async () => dataOf<{ credits_max: number }>(await eve.fetch(SHOP, 'status', { code: 404 }, { dry_run: true })),
                    ({ credits_max: max }) => max === 3,
                    10_000,
                );
                // Two items keep their outcome; two are retried at three credits each.
                expect(dataOf<Batch>(await change(eve, batch, 'retry')).credits).to.deep.equal({ used: 2, max: 8 });
                expect((await ended(eve, batch)).credits).to.deep.equal({ used: 2, max: 8 });
            } finally {
                await setDomain(opened.world.app.db, SHOP, { credits: 1 });
            }
        });

        it('continues with a changed payer: after a retry, and for an item that is tried again', async () => {
            const eve = await join(opened.world, { plan: 'free', credits: 100 });
            const gone = { endpoint: 'status', params: { code: 404 } };
            const old = await ordered(eve, { items: [gone, ...products(1)] });
            await ended(eve, old);
            await pauseJobs(opened.world.app.db, { accountId: null, site: null });
            const open = await ordered(eve, { defaults: { site: FLAKY, endpoint: 'thing' }, items: [{}] });
            await changePlan(opened.world.app.db, eve.workspaceId, { plan: 'starter', planAllowance: 5000 });
            opened.flaky.behaviour = says(503, { 'retry-after': '1' });
            await resumeJobs(opened.world.app.db, { accountId: null, site: null });
            await eventually(
                () => jobsOf(opened.world, open).first('status', 'attempts'),
                ({ status, attempts }) => status === 'queued' && attempts === 1,
                20_000,
            );
            opened.flaky.behaviour = 'well';
            expect((await ended(eve, open)).counts).to.deep.include({ succeeded: 1 });

            expect(dataOf<Batch>(await change(eve, old, 'retry')).retried).to.equal(1);
            expect((await ended(eve, old)).counts).to.deep.include({ failed: 1, succeeded: 1 });
            expect(
                await opened.world.app.db('job_accounts').whereIn('account_id', [eve.userId, eve.workspaceId]).sum({ open: 'open_items' }),
            ).to.deep.equal([{ open: '0' }]);
        });

        it('can be retried while one of its items starts', async () => {
            const eve = await someone(opened.world);
            const gone = { endpoint: 'status', params: { code: 404 } };
            const batch = await ordered(eve, { items: [gone, ...products(1)] });
            await ended(eve, batch);
            const { db } = opened.world.app;
            await pauseJobs(db, { accountId: null, site: null });
            const first = await jobsOf(opened.world, batch).where({ status: 'succeeded' }).first('job_id');
            await db('batches').where({ batch_id: batch.batch_id }).update({ status: 'running', finished_at: null });
            await jobsOf(opened.world, batch).where(first).update({ status: 'queued', end_number: null, finished_at: null });
            // In the order of locks of a start: the item, then its batch.
            const begin = await db.transaction();
            await begin('jobs').where(first).forUpdate().first('job_id');
            const retry = change(eve, batch, 'retry');
            const waiting = () =>
                db('pg_stat_activity')
                    .where({ wait_event_type: 'Lock', datname: db.raw('current_database()') })
                    .select('pid');
            await eventually(waiting, (blocked) => blocked.length > 0);
            await begin('batches').where({ batch_id: batch.batch_id }).forUpdate().first('status');
            await begin.rollback();
            expect(dataOf<Batch>(await retry).retried).to.equal(1);
            await resumeJobs(db, { accountId: null, site: null });
            expect((await ended(eve, batch)).counts).to.deep.include({ failed: 1, succeeded: 1 });
        });

        it('starts no item while it is paused', async () => {
            const eve = await someone(opened.world);
            opened.flaky.behaviour = 'hangs';
            const batch = await ordered(eve, {
                defaults: { site: FLAKY, endpoint: 'thing' },
                items: Array.from({ length: 30 }, () => ({})),
            });
            await eventually(
                () => read(eve, batch),
                ({ counts }) => (counts['running'] ?? 0) > 0,
            );
            const paused = dataOf<Batch>(await change(eve, batch, 'pause'));
            expect([paused.status, paused.paused_reason, paused.eta_seconds]).to.deep.equal(['paused', 'caller', null]);
            expect((await change(eve, batch, 'pause')).status).to.equal(200);
            opened.flaky.behaviour = 'well';
            opened.flaky.letGo();
            await eventually(
                () => read(eve, batch),
                ({ counts }) => counts['running'] === 0,
            );
            const { counts } = await read(eve, batch);
            expect(counts['queued']).to.be.greaterThan(0);
            expect(dataOf<Batch>(await change(eve, batch, 'resume')).status).to.equal('running');
            expect((await ended(eve, batch)).status).to.equal('succeeded');
            expect(await eventsOf(opened.world, batch)).to.deep.equal(['batch.paused', 'batch.finished']);
        });

        it('ends at once when it is cancelled: queued items are cancelled and running reads aborted, free of charge', async () => {
            const eve = await someone(opened.world);
            const before = await balanceOf(eve);
            opened.flaky.behaviour = 'hangs';
            const batch = await ordered(eve, {
                defaults: { site: FLAKY, endpoint: 'thing' },
                items: Array.from({ length: 30 }, () => ({})),
            });
            await eventually(
                () => read(eve, batch),
                ({ counts }) => (counts['running'] ?? 0) > 0,
            );
            const cancelled = dataOf<Batch>(await remove(eve, batch));
            expect([cancelled.status, cancelled.counts['cancelled']]).to.deep.equal(['cancelled', 30]);
            expect(await balanceOf(eve)).to.equal(before);
            expect((await remove(eve, batch)).status).to.equal(200);
            for (const verb of ['pause', 'resume']) expect(codeOf(await change(eve, batch, verb))).to.equal('BATCH_NOT_OPEN');
            opened.flaky.letGo();
        });

        it('is cancelled completely if the cancelling process dies in the middle', async () => {
            const eve = await someone(opened.world);
            await pauseJobs(opened.world.app.db, { accountId: eve.workspaceId, site: null });
            const batch = await ordered(eve, { items: products(3) });
            await opened.world.app.db('batches').where({ batch_id: batch.batch_id }).update({ status: 'cancelling' });
            const done = await ended(eve, batch);
            expect([done.status, done.counts['cancelled']]).to.deep.equal(['cancelled', 3]);
            await resumeJobs(opened.world.app.db, { accountId: eve.workspaceId, site: null });
        });

        it('that has ended cannot be paused, resumed or cancelled', async () => {
            const batch = await ordered(opened.ada, { items: products(1) });
            await ended(opened.ada, batch);
            for (const verb of ['pause', 'resume']) expect(codeOf(await change(opened.ada, batch, verb))).to.equal('BATCH_NOT_OPEN');
            expect(codeOf(await remove(opened.ada, batch))).to.equal('BATCH_NOT_OPEN');
        });

        it('pauses before it costs more than its max_credits', async () => {
            const eve = await someone(opened.world);
            const batch = await ordered(eve, { items: products(10), max_credits: 4 });
            expect(batch.credits.max).to.equal(4);
            const paused = await eventually(
                () => read(eve, batch),
                ({ status }) => status === 'paused',
                20_000,
            ).then(() => read(eve, batch));
            expect(paused).to.deep.include({ paused_reason: 'max_credits', credits: { used: 4, max: 4 } });
            expect(paused.counts['succeeded']).to.equal(4);
            dataOf(await change(eve, batch, 'resume', { max_credits: 10 }));
            expect((await ended(eve, batch)).credits).to.deep.equal({ used: 10, max: 10 });
        });

        it('pauses after the given number of failures, before many more items fail', async () => {
            const eve = await someone(opened.world);
            const items = Array.from({ length: 30 }, () => ({ endpoint: 'status', params: { code: 404 } }));
            const batch = await ordered(eve, { items, stop_after_failures: 3 });
            await eventually(
                () => read(eve, batch),
                ({ status }) => status !== 'running',
                20_000,
            );
            const paused = await read(eve, batch);
            expect(paused).to.deep.include({ status: 'paused', paused_reason: 'failures' });
            expect(paused.counts['queued']).to.be.at.least(10);
            await remove(eve, batch);
        });

        it('pauses if its key is revoked', async () => {
            const eve = await someone(opened.world);
            opened.flaky.behaviour = 'hangs';
            const batch = await ordered(eve, {
                defaults: { site: FLAKY, endpoint: 'thing' },
                items: Array.from({ length: 30 }, () => ({})),
            });
            await eventually(
                async () => jobsOf(opened.world, batch).where({ status: 'running' }),
                (running) => running.length > 0,
            );
            await opened.world.app
                .db('api_keys')
                .where({ user_id: eve.userId })
                .update({ revoked_at: opened.world.app.db.raw('app_now()') });
            opened.flaky.behaviour = 'well';
            opened.flaky.letGo();
            const row = () => opened.world.app.db('batches').where({ batch_id: batch.batch_id }).first('status', 'paused_reason');
            await eventually(row, ({ status }) => status === 'paused', 20_000);
            expect(await row()).to.deep.equal({ status: 'paused', paused_reason: 'key' });
        });

        it('expires at its deadline, and keeps its results', async () => {
            const eve = await someone(opened.world);
            opened.flaky.behaviour = 'hangs';
            const batch = await ordered(eve, {
                defaults: { site: FLAKY, endpoint: 'thing', timeout_ms: 120_000 },
                items: Array.from({ length: 40 }, () => ({})),
                expires_in: 60,
            });
            await eventually(
                () => read(eve, batch),
                ({ counts }) => (counts['running'] ?? 0) > 0,
            );
            await opened.world.clock.advance({ minutes: 2 });
            await eventually(
                () => read(eve, batch),
                ({ counts }) => (counts['expired'] ?? 0) > 0,
                20_000,
            );
            opened.flaky.behaviour = 'well';
            opened.flaky.letGo();
            expect((await ended(eve, batch)).status).to.equal('expired');
        });

        it('waits while an operator has paused jobs of its site or account', async () => {
            const [eve, bob] = [await someone(opened.world), await someone(opened.world)];
            const paused = [
                { accountId: eve.workspaceId, site: null },
                { accountId: null, site: SHOP },
            ];
            for (const pause of paused) {
                await pauseJobs(opened.world.app.db, pause);
                const batch = await ordered(eve, { items: products(2) });
                const job = dataOf<Item & { waiting_for: string }>(
                    await eve.call('POST', '/v1/jobs', { body: { site: SHOP, endpoint: 'product', params: { id: 1 } } }),
                );
                // Others have their turn meanwhile.
                const { job_id: id } = dataOf<Item>(await bob.call('POST', '/v1/jobs', { body: { site: FLAKY, endpoint: 'thing' } }));
                expect(dataOf<Item>(await bob.call('GET', `/v1/jobs/${id}?wait=30`)).status).to.equal('succeeded');
                expect([(await read(eve, batch)).waiting_for, job.waiting_for]).to.deep.equal(['operator', 'operator']);
                expect((await read(eve, batch)).counts['queued']).to.equal(2);
                await resumeJobs(opened.world.app.db, pause);
                expect((await ended(eve, batch)).status).to.equal('succeeded');
            }
        });

        it('frees the credits of an item that could not start and is then cancelled', async () => {
            const eve = await someone(opened.world);
            const pause = { accountId: eve.workspaceId, site: null };
            await pauseJobs(opened.world.app.db, pause);
            const batch = await ordered(eve, { items: products(1) });
            const lock = await opened.world.app.db.transaction();
            try {
                await lock.raw('select from batches where batch_id = ? for update', [batch.batch_id]);
                await resumeJobs(opened.world.app.db, pause);
                const cancelStart = () =>
                    opened.world.app.db.raw(
                        "select pg_cancel_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
                    );
                await eventually(cancelStart, ({ rows }) => rows.length > 0);
                await eventually(async () => opened.world.logged.some(({ message }) => /failed to start/.test(String(message))), Boolean);
            } finally {
                await lock.rollback();
            }
            await remove(eve, batch);
            await eventually(
                async () => (await opened.world.app.credits.balance(eve.workspaceId))?.held,
                (held) => held === 0,
            );
        });
    });
}
