import type { JobsOptions } from 'bullmq';
import { type BatchOptions, openBatch } from '../../platform/batch.ts';
import { type Envelope, JOB_STATES, type ProducerBackend, toQueuedJobs } from './backend.ts';
import { JOB_OPTIONS } from './bull-options.ts';

/** The methods of BullMQ's queue that a producer uses, for either store. */
interface BullQueue {
    addBulk(jobs: { name: string; data: Envelope; opts: JobsOptions }[]): Promise<unknown>;
    remove(id: string, options: { removeChildren: boolean }): Promise<unknown>;
    getJobCounts(...states: (typeof JOB_STATES)[number][]): Promise<Record<string, number>>;
    getJobs(
        states: (typeof JOB_STATES)[number][],
        from: number,
        to: number,
        isAscending: boolean,
    ): Promise<({ data?: Partial<Envelope>; timestamp: number } | undefined)[]>;
}

/** The producer methods that both stores share. All jobs of one turn of the event loop are added together. `now`: the store's clock. */
export function createProducer(
    ask: <Answer>(question: (queue: BullQueue) => Promise<Answer>) => Promise<Answer>,
    { now, ...batches }: Pick<BatchOptions<never, never>, 'maxSize' | 'maxInFlight'> & { now: () => number },
): Pick<ProducerBackend, 'add' | 'counts' | 'peek' | 'oldestWaitingSince'> & { remove(id: string): Promise<void> } {
    const addAll = (jobs: readonly { id: string; envelope: Envelope; priority: number }[]) => {
        const timestamp = now();
        const bulk = jobs.map(({ id, envelope, priority }) => ({
            name: 'fetch',
            data: envelope,
            opts: { ...JOB_OPTIONS, jobId: id, priority, timestamp },
        }));
        return ask((queue) => queue.addBulk(bulk)).then(() => jobs);
    };
    const { add } = openBatch({ ...batches, run: addAll });
    return {
        async add(id, envelope, priority = 0) {
            await add({ id, envelope, priority });
        },
        async remove(id) {
            await ask((queue) => queue.remove(id, { removeChildren: false }));
        },
        async counts() {
            const counts = await ask((queue) => queue.getJobCounts(...JOB_STATES));
            const { waiting = 0, prioritized = 0, active = 0, delayed = 0 } = counts;
            return { waiting: waiting + prioritized, active, delayed };
        },
        async peek(limit) {
            const read = (state: (typeof JOB_STATES)[number]) => ask((queue) => queue.getJobs([state], 0, limit - 1, true));
            const found = await Promise.all(JOB_STATES.map(async (state) => toQueuedJobs(state, await read(state))));
            return found.flat();
        },
        async oldestWaitingSince() {
            const [oldest] = await ask((queue) => queue.getJobs(['waiting'], 0, 0, true));
            return oldest?.timestamp;
        },
    };
}
