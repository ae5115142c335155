import { Queue as BullQueue, Worker as BullWorker, type Job } from 'bullmq';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import type { Queue } from '../../shared/coordination/queue/queue.ts';
import { hashTag } from '../../shared/platform/redis.ts';
import { testRedisUrl } from '../support/redis.ts';
import { aJob, eventually, isUp, openQueueFixture, type QueueFixture, success, topologies } from './queue-fixture.ts';

if (topologies.includes('redis')) {
    describe('the keys of the queue in Redis', () => {
        let fixture: QueueFixture;
        let redis: Redis;
        let api: Queue;
        const own = () => ({ connection: redis, prefix: hashTag(fixture.place.keyPrefix) });

        before(() => {
            redis = new Redis(testRedisUrl() ?? '', { maxRetriesPerRequest: null });
        });
        beforeEach(async () => {
            fixture = await openQueueFixture('redis');
            api = fixture.openQueue('api');
            await eventually('it is connected', () => isUp(api));
        });
        afterEach(() => fixture.remove());
        after(() => redis.disconnect());

        /** Keys of jobs, their locks and states, without BullMQ's own keys of the queue. */
        async function keysLeft(): Promise<string[]> {
            const keys = await redis.keys(`${own().prefix}:fetch:*`);
            return keys
                .map((key) => key.slice(`${own().prefix}:fetch:`.length))
                .filter((key) => !/^(id|meta|stalled-check|marker|pc|events)$/.test(key));
        }

        it('let BullMQ’s own worker run the jobs that we add', async () => {
            const taken: Job[] = [];
            const outcome = api.run(aJob({ operation: 'op_ours', values: '{"q":"shoes"}' }, 1000));
            const worker = new BullWorker('fetch', async (job) => void taken.push(job), own());
            await eventually('it is done', async () => taken.length === 1 && (await keysLeft()).length === 0);
            expect(taken[0]).to.deep.include({ id: 'op_ours', name: 'fetch', attemptsMade: 1 });
            expect(taken[0]?.data.job.values).to.equal('{"q":"shoes"}');
            expect(taken[0]?.timestamp).to.be.closeTo(Date.now(), 5000);
            await worker.close();
            expect((await outcome).ok).to.equal(false);
        });

        it('let us run the jobs that BullMQ’s own queue adds, and leave nothing behind', async () => {
            const queue = new BullQueue('fetch', own());
            const ran: string[] = [];
            const add = (operation: string, options: object) =>
                queue.add(
                    'fetch',
                    { job: aJob({ operation }), replyTo: `${own().prefix}:replies:nobody` },
                    { jobId: operation, ...options },
                );
            await add('op_later', { priority: 7, removeOnComplete: true });
            await add('op_first', { removeOnComplete: true });
            fixture.openQueue('worker').consume(
                async ({ operation }) => {
                    ran.push(operation);
                    return success();
                },
                { concurrency: 1 },
            );
            await eventually('both are done', async () => ran.length === 2 && (await keysLeft()).length === 0);
            expect(ran).to.deep.equal(['op_first', 'op_later']);
            await queue.close();
        });
    });
}
