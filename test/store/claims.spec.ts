import { expect } from 'chai';
import { newId } from '../../shared/domain/text/ids.ts';
import { type Db, openDb } from '../../shared/platform/db.ts';
import { cancelBatch } from '../../shared/store/jobs/batches.ts';
import { beginAttempts } from '../../shared/store/jobs/begins.ts';
import { claimJobs, renewLeases } from '../../shared/store/jobs/claims.ts';
import { endAtOnce } from '../../shared/store/jobs/end-at-once.ts';
import { expireJobs, reapJobs } from '../../shared/store/jobs/ends.ts';
import { countOpenJobs } from '../../shared/store/jobs/open-jobs.ts';
import { eventually } from '../support/eventually.ts';
import { join, type Person } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { openWorld, type World } from '../support/world.ts';
import { orderFor } from './books.ts';

const [SITE, ITEMS] = ['claims.test', 3000];
/** Executions of a prepared statement after which PostgreSQL keeps one plan. */
const PLANNED_AFTER = 6;

describe('a claim of jobs', () => {
    let world: World;
    let ada: Person;
    /** One connection, because each connection reports its own reads. */
    let db: Db;
    before(async () => {
        world = await openWorld({ workers: 0 });
        db = openDb({ url: world.app.config.databaseUrl ?? '', poolSize: 1, acquireTimeoutMs: 10_000 });
        ada = await join(world, { plan: 'pro' });
        dataOf(await ada.publish(aPackage(SITE)));
    });
    after(async () => {
        await db.destroy();
        await world.close();
    });

    async function order(items = ITEMS): Promise<string> {
        const lines = Array.from({ length: items }, (_, at) => JSON.stringify({ site: SITE, endpoint: 'product', params: { id: at + 1 } }));
        const headers = { 'content-type': 'application/x-ndjson' };
        return dataOf<{ batch_id: string }>(await ada.call('POST', '/v1/batches', { body: lines.join('\n'), headers })).batch_id;
    }

    /** The rows of jobs, and the entries of its indexes, that were read so far. */
    async function read(): Promise<number> {
        await db.raw('select pg_stat_force_next_flush()');
        const { rows } = await world.app.db.raw("select sum(idx_tup_read) as count from pg_stat_user_indexes where relname = 'jobs'");
        return Number(rows[0].count) + (await scanned());
    }

    /** The rows of jobs that were read without an index. */
    async function scanned(): Promise<number> {
        await db.raw('select pg_stat_force_next_flush()');
        const { rows } = await world.app.db.raw("select seq_tup_read as count from pg_stat_user_tables where relname = 'jobs'");
        return Number(rows[0].count);
    }

    /** Deletes all jobs with their dead rows. VACUUM keeps those that another transaction may see, and reads of an index count them. */
    async function clear(): Promise<void> {
        await db('jobs').delete();
        await db.raw('truncate jobs');
    }

    it('reads few of the queued jobs of an account, also while statistics say that hardly any job is queued', async () => {
        const order = (status: string) =>
            db.raw(
                `insert into jobs (job_id, workspace_id, key_id, account_id, site, registrable, endpoint, version_id, version, effect, needs,
                                   metadata, unit, expires_at, status, finished_at)
                 select 'job_' || cast(:status as text) || n, :workspace, 'key_any', :workspace, :site, :site, 'product', 1, 1, 'read', 'read', '{}', 1,
                        app_now() + interval '1 day', :status, case when :status = 'queued' then null else app_now() end
                 from generate_series(1, cast(:count as integer)) n`,
                { status, workspace: ada.workspaceId, site: SITE, count: ITEMS },
            );
        await order('cancelled');
        await db.raw('analyze jobs');
        await order('queued');
        const before = await read();
        const claimed = await claimJobs(db, [newId('op')], { accounts: new Map(), sites: new Map() });
        expect(claimed).to.have.lengthOf(1);
        await expireJobs(db);
        expect((await read()) - before).to.be.below(300);
        await clear();
    });

    it('reads few of the queued items of a batch, also while statistics say that hardly any job is queued', async () => {
        await cancelBatch(db, ada.workspaceId, await order());
        await db.raw('analyze jobs');
        const batchId = await order();
        const before = await read();
        const claimed = await claimJobs(
            db,
            Array.from({ length: 10 }, () => newId('op')),
            { accounts: new Map(), sites: new Map() },
        );
        expect(claimed).to.have.lengthOf(10);
        await renewLeases(db, claimed);
        const begun = await beginAttempts(
            db,
            batchId,
            claimed.map(({ jobId, operation, accountId }) => ({ jobId, operation, batchId, order: orderFor(accountId, { operation }) })),
        );
        expect(begun.map((one) => typeof one)).to.deep.equal(claimed.map(() => 'object'));
        await expireJobs(db);
        expect((await read()) - before).to.be.below(300);
        const scans = await scanned();
        await countOpenJobs(db);
        expect((await scanned()) - scans, 'to count open jobs').to.equal(0);
        await db.raw("delete from pg_statistic where starelid = 'jobs'::regclass");
        expect(await reapJobs(db, () => Promise.reject(new Error('no worker died')))).to.equal(0);
        expect((await scanned()) - scans, 'to look for jobs of dead workers').to.equal(0);
        await cancelBatch(db, ada.workspaceId, batchId);
    });

    it('is followed by a begin and an end that wait for locks longer than five seconds', async () => {
        const batchId = await order(2);
        const claimed = await claimJobs(db, [newId('op'), newId('op')], { accounts: new Map(), sites: new Map() });
        const begin = (jobs: typeof claimed) =>
            beginAttempts(
                world.app.db,
                batchId,
                jobs.map(({ jobId, operation, accountId }) => ({ jobId, operation, batchId, order: orderFor(accountId, { operation }) })),
            );
        const [first, second] = claimed.map((job) => [job]) as [typeof claimed, typeof claimed];
        expect(typeof (await begin(first))[0]).to.equal('object');
        const locks = await db.transaction();
        await locks('jobs').where({ batch_id: batchId }).forUpdate().select('job_id');
        const decide = async () => ({ status: 'succeeded' as const, result: Buffer.from('any'), question: null });
        const both = Promise.allSettled([
            endAtOnce(
                world.app.db,
                first.map((item) => ({ ...item, charge: 1, bytes: 3, decide })),
            ),
            begin(second),
        ]);
        const waitLong = async () => {
            const { rows } = await world.app.db.raw(
                `select count(*)::integer as count from pg_stat_activity
                 where datname = current_database() and wait_event_type = 'Lock' and query_start < clock_timestamp() - interval '5.5 seconds'`,
            );
            return rows[0].count;
        };
        await eventually(waitLong, (count) => count >= 2, 20_000);
        await locks.rollback();
        expect((await both).map(({ status }) => status)).to.deep.equal(['fulfilled', 'fulfilled']);
        await cancelBatch(world.app.db, ada.workspaceId, batchId);
    });

    it('reads few of the items of a batch that came after claims, begins and ends were planned, and plans them once', async () => {
        await clear();
        await db.raw('analyze jobs');
        const run = async (batchId: string) => {
            const claimed = await claimJobs(db, [newId('op')], { accounts: new Map(), sites: new Map() });
            const items = claimed.map(({ jobId, operation, accountId }) => ({ jobId, operation, batchId, accountId }));
            await beginAttempts(
                db,
                batchId,
                items.map(({ accountId, ...item }) => ({ ...item, order: orderFor(accountId, { operation: item.operation }) })),
            );
            const decide = async () => ({ status: 'succeeded' as const, result: Buffer.from('any'), question: null });
            const ended = await endAtOnce(
                db,
                items.map((item) => ({ ...item, charge: 1, bytes: 3, decide })),
            );
            expect(ended.map((one) => one?.end.status)).to.deep.equal(['succeeded']);
        };
        const small = await order(PLANNED_AFTER + 1);
        await db.raw('analyze jobs');
        for (let runs = 0; runs < PLANNED_AFTER; runs++) await run(small);
        await cancelBatch(db, ada.workspaceId, small);
        const large = await order();
        const before = await read();
        await run(large);
        expect((await read()) - before).to.be.below(300);
        // Now statistics say that all jobs are queued, and that all are of one site.
        await db.raw('analyze jobs');
        const analysed = await read();
        await run(large);
        expect((await read()) - analysed, 'after ANALYZE').to.be.below(300);
        for (let runs = 0; runs < PLANNED_AFTER; runs++) await run(large);
        const after = await read();
        await run(large);
        expect((await read()) - after, 'by the plans that the connection keeps').to.be.below(300);
        const { rows } = await db.raw(
            `select count(*)::integer as count from pg_prepared_statements
             where generic_plans > 0 and statement ~ 'insert into job_turns|begun as|undo_if'`,
        );
        expect(rows[0].count).to.be.at.least(3);
        await cancelBatch(db, ada.workspaceId, large);
    });
});
