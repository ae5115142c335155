import { openFleet } from '../../shared/coordination/limits/fleet.ts';
import { openLimits } from '../../shared/coordination/limits/limits.ts';
import { migrateQueue, openQueue, type Queue } from '../../shared/coordination/queue/queue.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { testRedisUrl, uniquePrefix } from '../support/redis.ts';
import { testSecretsAlone } from '../support/secrets.ts';
import { type Place, silent } from './jobs.ts';

export * from './jobs.ts';

/** The two topologies of the product. Without TEST_REDIS_URL, only the one without Redis is tested. */
export const topologies: readonly ('redis' | 'postgres')[] = testRedisUrl() === undefined ? ['postgres'] : ['redis', 'postgres'];

/** A queue store for one spec, and everything that was opened on it. */
export interface QueueFixture {
    place: Place;
    openQueue(role: 'api' | 'worker'): Queue;
    openLimits(clock?: { offsetMs: number }, patienceMs?: number): ReturnType<typeof openLimits>;
    openFleet(): ReturnType<typeof openFleet>;
    /** Closes everything that was opened since the last call. */
    closeAll(): Promise<void>;
    /** Closes everything and removes the store. */
    remove(): Promise<void>;
}

export async function openQueueFixture(topology: 'redis' | 'postgres', redisUrl = testRedisUrl()): Promise<QueueFixture> {
    const database: TestDatabase = await createTestDatabase();
    if (topology === 'postgres') await migrateQueue(database.url);
    const place: Place = { databaseUrl: database.url, keyPrefix: uniquePrefix() };
    if (topology === 'redis' && redisUrl !== undefined) place.redisUrl = redisUrl;
    const opened: { close(): Promise<void> }[] = [];
    const keep = <Part extends { close(): Promise<void> }>(part: Part): Part => {
        opened.push(part);
        return part;
    };
    const closeAll = async () => {
        for (const part of opened.splice(0).reverse()) await part.close();
    };
    return {
        place,
        openQueue: (role) => keep(openQueue({ ...place, secrets: testSecretsAlone(), role, log: silent })),
        openLimits: (clock = { offsetMs: 0 }, patienceMs = 1000) => keep(openLimits({ ...place, clock, log: silent, patienceMs })),
        openFleet: () => keep(openFleet({ ...place, log: silent })),
        closeAll,
        async remove() {
            await closeAll();
            await database.drop();
        },
    };
}
