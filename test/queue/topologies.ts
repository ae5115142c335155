import type { FetchJob, FetchOutcome } from '../../shared/domain/fetch.ts';
import { newId } from '../../shared/domain/ids.ts';
import { openFleet } from '../../shared/fleet.ts';
import { openLimits } from '../../shared/limits.ts';
import { migrateQueue, openQueue, type Queue } from '../../shared/queue.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { testRedisUrl, uniquePrefix } from '../support/redis.ts';

/** The two ways to run the product. Without TEST_REDIS_URL only the one without Redis is tested. */
export const topologies: readonly ('redis' | 'postgres')[] = testRedisUrl() === undefined ? ['postgres'] : ['redis', 'postgres'];

export const silent = { info() {}, warn() {}, error() {} };

export interface Place {
    databaseUrl: string;
    redisUrl?: string;
    keyPrefix: string;
}

/** A store of one spec's own, and everything that was opened on it. */
export interface Ground {
    place: Place;
    openQueue(role: 'api' | 'worker'): Queue;
    openLimits(clock?: { offsetMs: number }): ReturnType<typeof openLimits>;
    openFleet(): ReturnType<typeof openFleet>;
    /** Closes what was opened since the last call. */
    closeAll(): Promise<void>;
    /** Closes everything and removes the store. */
    remove(): Promise<void>;
}

export async function prepareGround(topology: 'redis' | 'postgres', redisUrl = testRedisUrl()): Promise<Ground> {
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
        openQueue: (role) => keep(openQueue({ ...place, role, log: silent })),
        openLimits: (clock = { offsetMs: 0 }) => keep(openLimits({ ...place, clock, log: silent })),
        openFleet: () => keep(openFleet({ ...place, log: silent })),
        closeAll,
        async remove() {
            await closeAll();
            await database.drop();
        },
    };
}

/** A call that is admitted now and must be answered within `timeoutMs`. */
export function aJob(changes: Partial<FetchJob> = {}, timeoutMs = 10_000): FetchJob {
    const now = Date.now();
    return {
        operation: newId('op'),
        requestId: 'req_test',
        site: 'shop.example',
        versionId: 1,
        endpoint: 'product',
        effect: 'read',
        values: {},
        deadlineAt: now + timeoutMs,
        admittedAt: now,
        maxResults: 1,
        maxPages: 1,
        run: 1,
        ...changes,
    };
}

/** What a worker answers to a call that went well. */
export function success(data: Record<string, string> = {}): FetchOutcome {
    const upstream = { status: 200, attempts: 1, durationMs: 1, bytes: 2 };
    return { ok: true, data, results: 1, requests: 1, truncated: false, upstream, startedAt: Date.now() };
}

/** Asks again until it is so, or fails after `limitMs`. */
export async function eventually(what: string, isSo: () => boolean | Promise<boolean>, limitMs = 10_000): Promise<void> {
    const end = performance.now() + limitMs;
    while (!(await isSo())) {
        if (performance.now() > end) throw new Error(`never came true: ${what}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
    }
}

export function isUp(part: { ping(): Promise<void> }): Promise<boolean> {
    return part.ping().then(
        () => true,
        () => false,
    );
}
