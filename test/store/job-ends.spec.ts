import { expect } from 'chai';
import { newId } from '../../shared/domain/text/ids.ts';
import { checkLedger } from '../../shared/store/credits/ledger.ts';
import { cancelBatch, retryBatch } from '../../shared/store/jobs/batches.ts';
import { beginAttempts } from '../../shared/store/jobs/begins.ts';
import { type ClaimedJob, claimJobs, putBack, renewLeases } from '../../shared/store/jobs/claims.ts';
import { cancelJob, endAttempts, expireJobs, reapJobs } from '../../shared/store/jobs/ends.ts';
import { listEnded } from '../../shared/store/jobs/jobs.ts';
import type { HoldEnd } from '../../shared/store/jobs/write-ends.ts';
import { openAttempts } from '../../workers/jobs/slice.ts';
import { eventually } from '../support/eventually.ts';
import { join, type Person } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { useWorld } from '../support/world.ts';
import { orderFor } from './books.ts';

const ALL_SCOPES = { effects: ['read', 'write'] as const, sites: null, endpoints: null, connections: null };
const [SITE, OTHER] = ['jobs.test', 'others.test'];

/** Holds one credit. */
const start = ({ jobId, operation, batchId, accountId }: ClaimedJob) => ({
    ...{ jobId, operation, batchId },
    order: orderFor(accountId, { operation }),
});

describe('the turn of a job', () => {
    const world = useWorld({ workers: 0 });
    let ada: Person;
    before(async () => {
        ada = await join(world, { plan: 'pro' });
        for (const site of [SITE, OTHER]) dataOf(await ada.publish(aPackage(site)));
    });

    const order = async (site: string) =>
        dataOf<{ job_id: string }>(
            await ada.call('POST', '/v1/jobs', { body: { site, endpoint: 'product', params: { id: 7 }, expires_in: 60 } }),
        ).job_id;
    /** Orders a batch of calls. Resolves with its id. */
    const orderBatch = async (by: Person, items: object[], more: object = {}) => {
        const body = { defaults: { site: SITE, endpoint: 'product' }, items, ...more };
        return dataOf<{ batch_id: string }>(await by.call('POST', '/v1/batches', { body })).batch_id;
    };
    const claimItems = (count: number) =>
        claimJobs(
            world.app.db,
            Array.from({ length: count }, () => newId('op')),
            { accounts: new Map(), sites: new Map() },
        );
    const failed = async () => ({ status: 'failed' as const, code: 'UPSTREAM_ERROR', error: Buffer.from('{}') });
    /** A batch with a failed, a running and a queued item. */
    const openBatch = async (by: Person) => {
        const { db } = world.app;
        const batchId = await orderBatch(
            by,
            Array.from({ length: 3 }, () => ({ params: { id: 1 } })),
        );
        const [first, running] = await claimItems(2);
        if (!first || !running) throw new Error('two items are claimed');
        await beginAttempts(db, batchId, [start(first), start(running)]);
        const { jobId, operation } = first;
        await endAttempts(db, [{ jobId, operation, batchId, charge: null, bytes: 0, decide: failed }]);
        return { batchId, running };
    };
    const retryOf = ({ workspaceId }: Person) => ({ keyId: 'key_other', accountId: workspaceId, codes: undefined, prices: [] });
    const deleteBatchesOf = async ({ workspaceId }: Person) => {
        for (const table of ['jobs', 'batches']) await world.app.db(table).where({ workspace_id: workspaceId }).delete();
    };
    const claim = (sites: string[] = []) =>
        claimJobs(world.app.db, [newId('op')], {
            accounts: new Map(),
            sites: new Map(sites.map((site) => [site, 0])),
        });

    it('without an outcome does not count as an attempt: without time for another one the job expires', async () => {
        const jobId = await order(SITE);
        const [job] = await claim();
        if (job?.jobId !== jobId) throw new Error('the only job is claimed');
        const { operation } = job;
        expect(await beginAttempts(world.app.db, null, [start(job)])).to.deep.equal([{ hold: operation, amount: 1, units: 1 }]);
        const code = 'SITE_BUSY';
        const decide = async () => ({ status: 'queued' as const, code, error: Buffer.from('{}'), afterMs: 120_000, isUntried: true });
        await endAttempts(world.app.db, [{ jobId, operation, batchId: null, charge: null, bytes: 0, decide }]);
        const row = await world.app.db('jobs').where({ job_id: jobId }).first('status', 'attempts', 'code');
        expect(row).to.deep.equal({ status: 'expired', attempts: 0, code: null });
    });

    it('keeps its lease while a job of another account is locked, and neither is stopped', async () => {
        const { db } = world.app;
        const eve = await join(world, { plan: 'pro' });
        const body = { site: SITE, endpoint: 'product', params: { id: 7 } };
        for (const person of [ada, eve]) dataOf(await person.call('POST', '/v1/jobs', { body }));
        const claimed = await claimJobs(db, [newId('op'), newId('op')], { accounts: new Map(), sites: new Map() });
        const [free, locked] = claimed;
        if (free === undefined || locked === undefined) throw new Error('both jobs are claimed');
        const rows = () => db('jobs').whereIn('job_id', [free.jobId, locked.jobId]);
        await rows().update({ lease_until: db.raw('fleet_now()') });
        const lock = await db.transaction();
        try {
            await lock('jobs').where({ job_id: locked.jobId }).forUpdate().select('job_id');
            const held = await db.transaction(async (trx) => {
                await trx.raw("set local lock_timeout = '5s'");
                return renewLeases(trx, claimed);
            });
            expect(held).to.deep.equal(new Set([free.operation, locked.operation]));
            expect(await rows().where('lease_until', '>', db.raw('fleet_now()')).pluck('job_id')).to.deep.equal([free.jobId]);
        } finally {
            await lock.rollback();
        }
        await rows().delete();
    });

    it('of a batch comes in the order of items, and batches come one after the other', async () => {
        const eve = await join(world, { plan: 'pro' });
        const order = async (name: string) => {
            const items = Array.from({ length: 4 }, (_, at) => ({ params: { id: at + 1 }, custom_id: `${name}${at}` }));
            await orderBatch(eve, items);
        };
        await order('a');
        await order('b');
        const turns: string[] = [];
        for (let turn = 0; turn < 3; turn++) {
            const claimed = await claimItems(2);
            const ids = claimed.map(({ jobId }) => jobId);
            const rows: { custom_id: string }[] = await world.app
                .db('jobs')
                .whereIn('job_id', ids)
                .orderBy('custom_id')
                .select('custom_id');
            turns.push(rows.map(({ custom_id: name }) => name).join(' '));
        }
        expect(turns).to.deep.equal(['a0 b0', 'a1 b1', 'a2 b2']);
        await deleteBatchesOf(eve);
    });

    it('of failed items is in one page of results, however many items ended in between', async () => {
        const eve = await join(world, { plan: 'pro' });
        const { db } = world.app;
        const items = Array.from({ length: 12 }, (_, at) => ({ params: { id: at + 1 }, custom_id: `r${at}` }));
        const batchId = await orderBatch(eve, items);
        const claimed = await claimItems(items.length);
        await beginAttempts(db, batchId, claimed.map(start));
        const failed = { status: 'failed' as const, code: 'SITE_BUSY', error: Buffer.from('{}') };
        const succeeded = { status: 'succeeded' as const, result: Buffer.from('{}'), question: null };
        await endAttempts(
            db,
            claimed.map(({ jobId, operation }, at) => ({
                ...{ jobId, operation, batchId, charge: null, bytes: 2 },
                decide: async () => (at === 0 || at === 11 ? failed : succeeded),
            })),
        );
        const page = await eve.call('GET', `/v1/batches/${batchId}/results?status=failed&limit=2`);
        expect(dataOf<{ job_id: string }[]>(page).map(({ job_id: id }) => id)).to.deep.equal([claimed[0]?.jobId, claimed[11]?.jobId]);
    });

    it('of a batch is read once by a reader while items end, and no end is skipped', async () => {
        const eve = await join(world, { plan: 'pro' });
        const { db } = world.app;
        const items = Array.from({ length: 200 }, (_, at) => ({ params: { id: at + 1 } }));
        const batchId = await orderBatch(eve, items);
        let isOver = false;
        const ending = (async () => {
            for (;;) {
                const claimed = await claimItems(7);
                if (claimed.length === 0) break;
                await beginAttempts(db, batchId, claimed.map(start));
                const result = { status: 'succeeded' as const, result: Buffer.from('{}'), question: null };
                await endAttempts(
                    db,
                    claimed.map(({ jobId, operation }) => ({
                        jobId,
                        operation,
                        batchId,
                        charge: null,
                        bytes: 2,
                        decide: async () => result,
                    })),
                );
            }
            isOver = true;
        })();
        const reader = { workspaceId: eve.workspaceId, userId: eve.userId, scopes: ALL_SCOPES };
        const read: number[] = [];
        for (let wasOver = false; ; wasOver = isOver) {
            const rows = await listEnded(db, reader, { batchId, after: read.at(-1) ?? 0, limit: 2 });
            read.push(...rows.map(({ endNumber }) => endNumber));
            if (rows.length === 0 && wasOver) break;
        }
        await ending;
        expect(read).to.deep.equal(items.map((_, at) => at + 1));
        // Each result has two bytes. A page ends with the item that fills it, also if a search has skipped others.
        const ofBytes = async (after: number, maxBytes: number) =>
            (await listEnded(db, reader, { batchId, after, limit: 100, maxBytes })).map(({ endNumber }) => endNumber);
        expect(await ofBytes(0, 1)).to.deep.equal([1]);
        expect(await ofBytes(1, 5)).to.deep.equal([2, 3, 4]);
        await db('jobs').where({ batch_id: batchId }).whereBetween('end_number', [3, 150]).update({ end_number: null });
        expect(await ofBytes(0, 6)).to.deep.equal([1, 2, 151]);
        expect(await ofBytes(0, 200)).to.deep.equal([1, 2, ...items.slice(150).map((_, at) => at + 151)]);
    });

    it('is returned for several items together, each with its own wait, and not for one that was cancelled or claimed again', async () => {
        const eve = await join(world, { plan: 'pro' });
        const items = Array.from({ length: 4 }, (_, at) => ({ params: { id: at + 1 }, custom_id: `c${at}` }));
        const batchId = await orderBatch(eve, items);
        const { db } = world.app;
        const claimed = await claimItems(items.length);
        const [soon, later, cancelled, lost] = claimed.map(({ jobId, operation }) => ({ jobId, operation, batchId }));
        if (!soon || !later || !cancelled || !lost) throw new Error('all items are claimed');
        await cancelJob(db, eve.workspaceId, cancelled.jobId);
        const wait = { waitingFor: 'site' as const, afterMs: 0 };
        await putBack(db, [
            { ...soon, ...wait },
            { ...later, ...wait, afterMs: 60_000 },
            { ...cancelled, ...wait },
            { ...lost, ...wait, operation: newId('op') },
        ]);
        const rows = await db('jobs')
            .where({ batch_id: batchId })
            .select('job_id', 'status', 'operation', 'waiting_for', db.raw("due_at > app_now() + interval '30 seconds' as is_later"));
        const rowOf = ({ jobId }: { jobId: string }) => rows.find((row) => row.job_id === jobId);
        expect(rowOf(soon)).to.include({ status: 'queued', operation: null, waiting_for: 'site', is_later: false });
        expect(rowOf(later)).to.include({ status: 'queued', operation: null, waiting_for: 'site', is_later: true });
        expect(rowOf(cancelled)).to.include({ status: 'cancelled' });
        expect(rowOf(lost)).to.include({ status: 'queued', operation: lost.operation, waiting_for: null });
        expect(await db('batches').where({ batch_id: batchId }).first('waiting_for')).to.deep.equal({ waiting_for: 'site' });
        await db('jobs').where({ batch_id: batchId }).delete();
        await db('batches').where({ batch_id: batchId }).delete();
    });

    it('of items begins in one statement, so that the account is not locked while a busy worker answers', async () => {
        const eve = await join(world, { plan: 'pro' });
        const { db } = world.app;
        const order = async (more: object) => {
            const items = Array.from({ length: 4 }, (_, at) => ({ params: { id: at + 1 } }));
            return orderBatch(eve, items, more);
        };
        const begin = async (batchId: string) => {
            const claimed = await claimItems(4);
            let statements = 0;
            const count = ({ sql }: { sql: string }) => {
                if (/\b(jobs|holds|batches)\b/.test(sql)) statements += 1;
            };
            db.on('query', count);
            const begun = await beginAttempts(db, batchId, claimed.map(start)).finally(() => db.off('query', count));
            const held = await db('batches').where({ batch_id: batchId }).first('credits_held', 'running');
            for (const { jobId } of claimed) await cancelJob(db, eve.workspaceId, jobId);
            return { statements, begun: begun.map((one) => typeof one), held };
        };
        const four = { begun: Array.from({ length: 4 }, () => 'object'), held: { credits_held: 4, running: 4 } };
        expect(await begin(await order({}))).to.deep.equal({ statements: 1, ...four });
        expect((await begin(await order({ max_credits: 100 }))).statements, 'with a limit of its own').to.be.above(1);
        const paused = await order({});
        await db('batches').where({ batch_id: paused }).update({ waiting_for: 'limits' });
        expect((await begin(paused)).held).to.deep.equal(four.held);
        expect(await checkLedger(db)).to.deep.equal([]);
        await deleteBatchesOf(eve);
    });

    it('of items ends in one statement, but for those that are tried again or whose hold is over, and for the last ones', async () => {
        const eve = await join(world, { plan: 'pro' });
        const { db } = world.app;
        const items = Array.from({ length: 9 }, (_, at) => ({ params: { id: at + 1 } }));
        const batchId = await orderBatch(eve, items);
        const claimed = await claimItems(items.length);
        await beginAttempts(db, batchId, claimed.map(start));
        const code = 'UPSTREAM_ERROR';
        const failed = { status: 'failed' as const, code, error: Buffer.from('{}') };
        const again = { status: 'queued' as const, code, error: Buffer.from('{}'), afterMs: 1000 };
        const attempts = openAttempts(world.app);
        const end = async (some: readonly [at: number, outcome: 'succeeded' | 'failed' | 'again'][]) => {
            let statements = 0;
            const count = ({ sql }: { sql: string }) => {
                if (/\b(jobs|holds|batches)\b/.test(sql)) statements += 1;
            };
            db.on('query', count);
            const ended = await Promise.all(
                some.map(([at, outcome]) => {
                    const { jobId, operation } = claimed[at] as ClaimedJob;
                    const decide = async ({ won }: HoldEnd) => {
                        if (outcome === 'again') return again;
                        if (outcome === 'failed' || !won) return failed;
                        return { status: 'succeeded' as const, result: Buffer.from(`result${'s'.repeat(at)}`), question: null };
                    };
                    return attempts.end({ jobId, operation, batchId, charge: outcome === 'succeeded' ? 1 : null, bytes: 2, decide });
                }),
            ).finally(() => db.off('query', count));
            return { statements, ended: ended.map((one) => one && `${one.end.status} ${one.hold.charged}`) };
        };
        expect(
            await end([
                [2, 'succeeded'],
                [0, 'failed'],
                [1, 'succeeded'],
            ]),
        ).to.deep.equal({
            statements: 1,
            ended: ['succeeded 1', 'failed 0', 'succeeded 1'],
        });
        const written = await db('jobs')
            .where({ batch_id: batchId })
            .whereNotNull('end_number')
            .orderBy('end_number')
            .select('result', 'error');
        expect(written.map(({ result, error }) => [result?.toString(), error?.toString()])).to.deep.equal([
            ['resultss', undefined],
            [undefined, '{}'],
            ['results', undefined],
        ]);
        const mixed = await end([
            [3, 'again'],
            [4, 'succeeded'],
            [2, 'succeeded'],
        ]);
        expect(mixed.ended).to.deep.equal(['queued 0', 'succeeded 1', undefined]);
        expect(mixed.statements).to.be.above(1);
        await db.raw("update holds set expires_at = app_now() - interval '1 second' where batch_id = ?", [batchId]);
        await db.raw('select credits_sweep(10)');
        expect((await end([[5, 'succeeded']])).ended, 'after the hold has expired').to.deep.equal(['failed 0']);
        await cancelJob(db, eve.workspaceId, (claimed[3] as ClaimedJob).jobId);
        expect(
            (
                await end([
                    [6, 'failed'],
                    [7, 'failed'],
                    [8, 'failed'],
                ])
            ).ended,
        ).to.deep.equal(['failed 0', 'failed 0', 'failed 0']);
        const batch = await db('batches').where({ batch_id: batchId }).first();
        expect(batch).to.include({ status: 'finished', succeeded: 3, failed: 5, cancelled: 1, queued: 0, running: 0, credits_used: 3 });
        const reader = { workspaceId: eve.workspaceId, userId: eve.userId, scopes: ALL_SCOPES };
        const results = await listEnded(db, reader, { batchId, after: 0, limit: 20 });
        const place = (at: number) => results.findIndex(({ jobId }) => jobId === claimed[at]?.jobId);
        expect(results.map(({ endNumber }) => endNumber)).to.deep.equal(items.map((_, at) => at + 1));
        expect([2, 0, 1, 4, 5, 3].map(place)).to.deep.equal([0, 1, 2, 3, 4, 5]);
        expect(await checkLedger(db)).to.deep.equal([]);
        await deleteBatchesOf(eve);
    });

    it('expires with its batch, also if it was running while the batch was retried', async () => {
        const eve = await join(world, { plan: 'pro' });
        const { db } = world.app;
        const batchId = await orderBatch(eve, [{ params: { id: 1 } }, { params: { id: 2 } }], { expires_in: 60 });
        const claimed = await claimItems(2);
        await beginAttempts(db, batchId, claimed.map(start));
        const [failing, running] = claimed;
        if (!failing || !running) throw new Error('both items are claimed');
        const { jobId, operation } = failing;
        const decide = async () => ({ status: 'failed' as const, code: 'SITE_BUSY', error: Buffer.from('{}') });
        await endAttempts(db, [{ jobId, operation, batchId, charge: null, bytes: 0, decide }]);
        await db('batches').where({ batch_id: batchId }).update({ expires_in: 3600 });
        const retry = { keyId: 'key_other', accountId: eve.workspaceId, codes: undefined, prices: [] };
        expect(await db.transaction((trx) => retryBatch(trx, batchId, retry))).to.equal(1);
        const expiries = await db('jobs').where({ batch_id: batchId }).distinct('expires_at').pluck('expires_at');
        expect(expiries).to.deep.equal(await db('batches').where({ batch_id: batchId }).pluck('expires_at'));
        const key = await db('jobs').where({ job_id: running.jobId }).first('status', 'account_id');
        expect(key).to.deep.equal({ status: 'running', account_id: running.accountId });
        expect(await cancelJob(db, eve.workspaceId, running.jobId)).to.equal('cancelled');
        await db('jobs').where({ batch_id: batchId }).delete();
        await db('batches').where({ batch_id: batchId }).delete();
    });

    it('ends for all items of a batch without reading them into this process', async () => {
        const eve = await join(world, { plan: 'pro' });
        const { db } = world.app;
        const items = Array.from({ length: 60 }, () => ({ params: { id: 1 } }));
        const order = () => orderBatch(eve, items, { expires_in: 60 });
        const [cancelled, expired] = [await order(), await order()];
        let read = 0;
        const count = (answer: unknown) => {
            if (typeof answer === 'object' && answer !== null && 'rows' in answer) read += (answer.rows as unknown[]).length;
            if (Array.isArray(answer)) read += answer.length;
        };
        db.on('query-response', count);
        try {
            expect(await cancelBatch(db, eve.workspaceId, cancelled)).to.equal(true);
            const retry = { keyId: 'key_other', accountId: eve.workspaceId, codes: undefined, prices: [] };
            expect(await db.transaction((trx) => retryBatch(trx, cancelled, retry))).to.equal(60);
            for (const table of ['jobs', 'batches']) {
                await db(table)
                    .where({ batch_id: expired })
                    .update({ expires_at: db.raw('app_now()') });
            }
            await expireJobs(db, 10);
        } finally {
            db.off('query-response', count);
        }
        expect(read).to.be.below(60);
        const ends = await db('jobs').where({ batch_id: expired }).orderBy('number').select('status', 'end_number');
        expect(ends).to.deep.equal(items.map((_, at) => ({ status: 'expired', end_number: at + 1 })));
        const rows = await db('batches').whereIn('batch_id', [cancelled, expired]).orderBy('number').select('status', 'queued', 'ends');
        expect(rows).to.deep.equal([
            { status: 'running', queued: 60, ends: 60 },
            { status: 'expired', queued: 0, ends: 60 },
        ]);
        await deleteBatchesOf(eve);
    });

    it('ends the items of a large batch a thousand at a time, since others wait for a batch meanwhile', async () => {
        const eve = await join(world, { plan: 'pro' });
        const { db } = world.app;
        const batchId = await orderBatch(
            eve,
            Array.from({ length: 2500 }, () => ({ params: { id: 1 } })),
        );
        expect(await cancelBatch(db, eve.workspaceId, batchId)).to.equal(true);
        const ends = await db('jobs')
            .where({ batch_id: batchId })
            .orderBy('number')
            .select('end_number', db.raw('xmin::text as transaction'));
        expect(ends.map((row) => row.end_number)).to.deep.equal(ends.map((_, at) => at + 1));
        const together = [...Map.groupBy(ends, (row) => row.transaction).values()].map(({ length }) => length);
        expect(together.toSorted((a, b) => b - a)).to.deep.equal([1000, 1000, 500]);
        expect(await db('batches').where({ batch_id: batchId }).first('status')).to.deep.equal({ status: 'cancelled' });
        await deleteBatchesOf(eve);
    });

    it('waits only briefly for a retry of its batch: items are queued again before the batch and the accounts are locked', async () => {
        const [eve, payer] = await Promise.all([join(world, { plan: 'pro' }), join(world, { plan: 'pro' })]);
        const { db } = world.app;
        const { batchId, running } = await openBatch(eve);
        let retrying: Promise<number | undefined> | undefined;
        await db.transaction(async (trx) => {
            await trx('batches').where({ batch_id: batchId }).forUpdate().first('batch_id');
            retrying = db.transaction((other) => retryBatch(other, batchId, retryOf(payer)));
            const waiting = () =>
                db('pg_stat_activity').where({ wait_event_type: 'Lock' }).whereRaw('datname = current_database()').select('query');
            await eventually(waiting, (rows) => rows.length > 0);
            const [{ query }] = await waiting();
            expect(query).to.match(/retried as/);
            await trx('job_accounts').whereIn('account_id', [eve.workspaceId, payer.workspaceId]).forUpdate().noWait().select('account_id');
        });
        expect(await retrying).to.equal(1);
        const owners = await db('jobs').where({ batch_id: batchId }).orderBy('number').select('status', 'account_id');
        expect(owners).to.deep.equal([
            { status: 'queued', account_id: payer.workspaceId },
            { status: 'running', account_id: eve.workspaceId },
            { status: 'queued', account_id: payer.workspaceId },
        ]);
        expect(await db('batches').where({ batch_id: batchId }).first('queued', 'running', 'failed')).to.deep.equal({
            ...{ queued: 2, running: 1, failed: 0 },
        });
        expect(await cancelJob(db, eve.workspaceId, running.jobId)).to.equal('cancelled');
        await deleteBatchesOf(eve);
    });

    it('comes to an end though a retry of its batch locked it longer than its lease lasts', async () => {
        const eve = await join(world, { plan: 'pro' });
        const { db } = world.app;
        const { batchId, running } = await openBatch(eve);
        await db('jobs')
            .where({ job_id: running.jobId })
            .update({ lease_until: db.raw("fleet_now() - interval '1 second'") });
        const again = async () => ({ status: 'cancelled' as const });
        await db.transaction(async (trx) => {
            expect(await retryBatch(trx, batchId, retryOf(eve))).to.equal(1);
            expect(await reapJobs(db, again)).to.equal(0);
        });
        expect(await reapJobs(db, again)).to.equal(0);
        expect(await cancelJob(db, eve.workspaceId, running.jobId)).to.equal('cancelled');
        await deleteBatchesOf(eve);
    });

    it('of items shares a hold, from which max_credits, a cancel, a dead worker and an end take their parts', async () => {
        const eve = await join(world, { plan: 'pro' });
        const { db } = world.app;
        const items = Array.from({ length: 6 }, (_, at) => ({ params: { id: at + 1 } }));
        const batchId = await orderBatch(eve, items, { max_credits: 4 });
        const claimed = await claimItems(items.length);
        const heldNow = async () => {
            const account = await db('credit_accounts').where({ id: eve.workspaceId }).first('held');
            const batch = await db('batches').where({ batch_id: batchId }).first('credits_held');
            expect(await checkLedger(db)).to.deep.equal([]);
            return [account.held, batch.credits_held];
        };
        const begun = await beginAttempts(db, batchId, claimed.map(start));
        const over = { limit: { held: 4 } };
        expect(begun.map((one) => (typeof one === 'object' && 'amount' in one ? one.amount : one))).to.deep.equal([1, 1, 1, 1, over, over]);
        expect(await heldNow()).to.deep.equal([4, 4]);

        const [cancelled, lost, ended, left] = claimed;
        if (!cancelled || !lost || !ended || !left) throw new Error('all items are claimed');
        expect(await cancelJob(db, eve.workspaceId, cancelled.jobId)).to.equal('cancelled');
        expect(await heldNow()).to.deep.equal([3, 3]);

        await db('jobs')
            .where({ job_id: lost.jobId })
            .update({ lease_until: db.raw("fleet_now() - interval '1 second'") });
        const code = 'DEADLINE_EXCEEDED';
        const again = async () => ({ status: 'queued' as const, code, error: Buffer.from('{}'), afterMs: 0, isDeath: true });
        expect(await reapJobs(db, again)).to.equal(1);
        expect(await heldNow()).to.deep.equal([2, 2]);

        const succeeded = async () => ({ status: 'succeeded' as const, result: Buffer.from('{}'), question: null });
        const end = ({ jobId, operation }: ClaimedJob) => ({ jobId, operation, batchId, charge: 1, bytes: 2, decide: succeeded });
        const [first] = await endAttempts(db, [end(ended)]);
        expect(first?.hold).to.include({ won: true, charged: 1 });
        expect(await endAttempts(db, [end(ended), end(lost), end(cancelled)]), 'ended before').to.deep.equal([
            undefined,
            undefined,
            undefined,
        ]);
        expect(await heldNow()).to.deep.equal([1, 1]);
        await endAttempts(db, [end(left)]);
        expect(await heldNow()).to.deep.equal([0, 0]);

        const entries = await db('ledger_entries')
            .where({ batch_id: batchId })
            .whereIn('kind', ['hold', 'charge', 'release'])
            .orderBy('id');
        expect(entries.map(({ kind, items: count }) => `${kind} ${count}`)).to.deep.equal([
            ...['hold 6', 'release 2', 'release 1', 'release 1', 'charge 1', 'charge 1'],
        ]);
        const used = await db('jobs').where({ batch_id: batchId }).sum<{ credits: string }>({ credits: 'credits_used' }).first();
        const charged = entries.filter(({ kind }) => kind === 'charge').map((entry) => -entry.available_delta - entry.held_delta);
        expect(charged).to.deep.equal([1, 1]);
        expect(Number(used?.credits)).to.equal(2);
        await db('jobs').where({ batch_id: batchId }).delete();
        await db('batches').where({ batch_id: batchId }).delete();
    });

    it('comes for everybody while a long order or change of one account runs', async () => {
        const [eve, bob] = [await join(world, { plan: 'pro' }), await join(world, { plan: 'pro' })];
        const items = [{ params: { id: 1 } }, { params: { id: 2 } }];
        const batch = dataOf<{ batch_id: string }>(
            await eve.call('POST', '/v1/batches', { body: { defaults: { site: SITE, endpoint: 'product' }, items } }),
        );
        dataOf(await bob.call('POST', '/v1/jobs', { body: { site: SITE, endpoint: 'product', params: { id: 3 } } }));
        const order = await world.app.db.transaction();
        try {
            await order.raw('select from job_accounts where account_id = ? for update', [eve.workspaceId]);
            await order.raw('select from batches where batch_id = ? for update', [batch.batch_id]);
            const accounts = async () => {
                const claimed = await claimItems(2);
                return claimed.map(({ accountId }) => accountId);
            };
            expect(await accounts()).to.have.members([eve.workspaceId, bob.workspaceId]);
        } finally {
            await order.rollback();
        }
        for (const { workspaceId } of [eve, bob]) await world.app.db('jobs').where({ workspace_id: workspaceId }).delete();
        await world.app.db('batches').where({ workspace_id: eve.workspaceId }).delete();
    });

    it('skips sites without a free slot, however many of their jobs wait', async () => {
        for (let one = 0; one < 3; one++) await order(SITE);
        const other = await order(OTHER);
        expect((await claim([SITE])).map(({ jobId }) => jobId)).to.deep.equal([other]);
        expect(await claim([SITE])).to.deep.equal([]);
        expect((await claim())[0]?.site).to.equal(SITE);
    });
});
