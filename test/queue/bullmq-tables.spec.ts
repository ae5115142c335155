import { createPostgresBackend, withBackend } from 'bullmq';
import { expect } from 'chai';
import pg from 'pg';
import type { Envelope } from '../../shared/coordination/queue/backend.ts';
import { createBatchedPostgresBackend } from '../../shared/coordination/queue/batched-postgres-backend.ts';
import { TURN } from '../../shared/coordination/queue/batched-statements.ts';
import { WORKER_OPTIONS } from '../../shared/coordination/queue/bull-options.ts';
import type { Queue } from '../../shared/coordination/queue/queue.ts';
import { aJob, eventually, isUp, openQueueFixture, type QueueFixture, success } from './queue-fixture.ts';

const theirs = withBackend(createPostgresBackend);
const ours = withBackend(createBatchedPostgresBackend);
const OWN = { removeOnComplete: true, removeOnFail: true };

describe('the tables of the queue in PostgreSQL', () => {
    let fixture: QueueFixture;
    let pool: pg.Pool;
    let api: Queue;
    const closers: (() => Promise<unknown>)[] = [];

    beforeEach(async () => {
        fixture = await openQueueFixture('postgres');
        pool = new pg.Pool({ connectionString: fixture.place.databaseUrl, options: '-c search_path=bullmq,public' });
        api = fixture.openQueue('api');
        await eventually('it is connected', () => isUp(api));
    });
    afterEach(async () => {
        for (const close of closers.splice(0)) await close();
        await pool.end();
        await fixture.remove();
    });

    async function jobsLeft(): Promise<number> {
        const { rows } = await pool.query<{ count: number }>('select count(*)::integer as count from job');
        return rows[0]?.count ?? 0;
    }

    const theirConnection = () => ({ connectionString: fixture.place.databaseUrl, skipMigrations: true });

    function openTheirQueue() {
        const queue = new theirs.Queue<Envelope>('fetch', { connection: theirConnection() });
        closers.push(() => queue.close());
        return queue;
    }

    const envelope = (operation: string) => ({ job: aJob({ operation }), replyTo: 'replies_nobody' });

    it('let BullMQ’s own worker run the jobs that we add', async () => {
        const taken: { id: string | undefined; values: string }[] = [];
        const outcome = api.run(aJob({ operation: 'op_ours', values: '{"q":"shoes"}' }, 1000));
        const worker = new theirs.Worker<Envelope>('fetch', async ({ id, data }) => void taken.push({ id, values: data.job.values }), {
            connection: theirConnection(),
        });
        closers.push(() => worker.close());
        await eventually('it is done', async () => taken.length === 1 && (await jobsLeft()) === 0);
        expect(taken).to.deep.equal([{ id: 'op_ours', values: '{"q":"shoes"}' }]);
        expect((await outcome).ok).to.equal(false);
    });

    it('are not asked for jobs by a worker that waits', async () => {
        fixture.openQueue('worker').consume(async () => success(), { concurrency: 4 });
        await api.run(aJob());
        const { query } = pg.Client.prototype;
        const asked: string[] = [];
        pg.Client.prototype.query = function (this: pg.Client, ...args: [string | { text: string }]) {
            asked.push(typeof args[0] === 'string' ? args[0] : args[0].text);
            return Reflect.apply(query, this, args);
        } as typeof query;
        try {
            for (let jobs = 0; jobs < 5; jobs++) expect((await api.run(aJob())).ok).to.equal(true);
        } finally {
            pg.Client.prototype.query = query;
        }
        expect(asked).to.include(TURN.text);
        expect(asked.filter((text) => /waiting_job|next_delay/.test(text))).to.deep.equal([]);
    });

    it('let us run the jobs that BullMQ’s own queue adds, the plain ones first, and leave nothing behind', async () => {
        const queue = openTheirQueue();
        const ran: string[] = [];
        await queue.add('fetch', envelope('op_later'), { jobId: 'op_later', priority: 7, ...OWN });
        await queue.add('fetch', envelope('op_first'), { jobId: 'op_first', ...OWN });
        fixture.openQueue('worker').consume(
            async ({ operation }) => {
                ran.push(operation);
                return success();
            },
            { concurrency: 1 },
        );
        await eventually('both are done', async () => ran.length === 2 && (await jobsLeft()) === 0);
        expect(ran).to.deep.equal(['op_first', 'op_later']);
    });

    it('let a worker run jobs whose answer was lost, as soon as the server answers again', async () => {
        let isLost = false;
        const query = async (...question: Parameters<pg.Pool['query']>) => {
            const answer: pg.QueryResult = await (pool.query as (...all: unknown[]) => Promise<pg.QueryResult>)(...question);
            const [{ name }] = question as unknown as [{ name?: string }];
            if (isLost || name !== TURN.name || answer.rows[0]?.id == null) return answer;
            isLost = true;
            throw new Error('Connection terminated unexpectedly');
        };
        const losing = new Proxy(pool, {
            get: (target, key) => (key === 'query' ? query : Reflect.get(target, key)),
        });
        const ran: string[] = [];
        const worker = new ours.Worker<Envelope>('fetch', async ({ id = '' }) => void ran.push(id), {
            ...WORKER_OPTIONS,
            autorun: true,
            connection: { pool: losing, concurrency: 4 },
            concurrency: 4,
        });
        const failed: string[] = [];
        worker.on('failed', (_job, error) => failed.push(error.message));
        worker.on('error', () => undefined);
        closers.push(() => worker.close());
        const queue = openTheirQueue();
        for (const id of ['op_1', 'op_2', 'op_3']) await queue.add('fetch', envelope(id), { jobId: id, ...OWN });
        await eventually('all are done', async () => (await jobsLeft()) === 0);
        expect(isLost).to.equal(true);
        expect(failed).to.deep.equal([]);
        expect(ran.toSorted()).to.deep.equal(['op_1', 'op_2', 'op_3']);
    });
});
