import type { Result } from 'ioredis';
import { openPool } from '../../platform/postgres-pool.ts';
import { hashTag, openRedis } from '../../platform/redis.ts';
import { createStallDetector } from '../../platform/stall-detector.ts';
import type { StoreOptions } from '../store-options.ts';
import { FLEET_SCRIPT } from './redis-scripts.ts';

declare module 'ioredis' {
    interface RedisCommander<Context> {
        fleet(...args: (string | number)[]): Result<string[], Context>;
    }
}

/** A worker that has not reported for this long counts as gone. Workers report once a second. */
export const WORKER_LIFE_MS = 5000;

interface WorkerReport {
    id: string;
    /** Maximum number of concurrent fetches of the worker. */
    slots: number;
    busy: number;
    /** When the loop of the worker last made progress, in milliseconds since the epoch. */
    progressAt: number;
}

/** A worker can report and still take no fetches. The loop of a healthy worker makes progress at least every 3 s. */
const STUCK_MS = 10_000;

/** Whether the worker still reports but takes no fetches. */
export function isStuck({ progressAt }: WorkerReport): boolean {
    return Date.now() - progressAt >= STUCK_MS;
}

/** The registry of live workers. Each worker reports once a second. Site shares, health checks and metrics read the registry. */
export interface Fleet {
    /** @throws when the store is unreachable; the worker retries in the next second */
    report(worker: WorkerReport): Promise<void>;
    /** Workers that reported within 5 s. @throws when the store is unreachable */
    live(): Promise<WorkerReport[]>;
    /** Slots of all live workers. @throws when the store is unreachable */
    slots(): Promise<number>;
    close(): Promise<void>;
}

/** Opens the registry of workers in Redis, or in PostgreSQL if Redis is not configured. */
export function openFleet(options: StoreOptions): Fleet {
    const { redisUrl } = options;
    const { report, live, close } = redisUrl === undefined ? inPostgres(options) : inRedis({ ...options, redisUrl });
    return {
        report,
        live,
        async slots() {
            return (await live()).reduce((sum, worker) => sum + worker.slots, 0);
        },
        close,
    };
}

type FleetStore = Omit<Fleet, 'slots'>;

function inRedis({ redisUrl, keyPrefix, log }: StoreOptions & { redisUrl: string }): FleetStore {
    const prefix = hashTag(keyPrefix);
    const redis = openRedis(redisUrl, 'producer', 'redis fleet', log);
    const { guard } = createStallDetector('redis fleet');
    redis.defineCommand('fleet', { numberOfKeys: 2, lua: FLEET_SCRIPT });
    const keys = [`${prefix}:fleet`, `${prefix}:fleet:slots`];
    return {
        async report({ id, slots, busy, progressAt }) {
            await guard(redis.fleet(...keys, id, slots, busy, sinceMs(progressAt), WORKER_LIFE_MS));
        },
        async live() {
            const flat = await guard(redis.fleet(...keys, '', 0, 0, 0, WORKER_LIFE_MS));
            const workers: WorkerReport[] = [];
            for (let at = 0; at < flat.length; at += 4) {
                const [id = '', slots, busy, progressMs] = flat.slice(at, at + 4);
                workers.push({ id, slots: Number(slots), busy: Number(busy), progressAt: Date.now() - Number(progressMs) });
            }
            return workers;
        },
        close: async () => redis.disconnect(),
    };
}

function inPostgres({ databaseUrl, log }: StoreOptions): FleetStore {
    const pool = openPool({
        url: databaseUrl,
        part: 'postgres fleet',
        log,
        max: 1,
        timeoutMs: 1000,
        settings: '-c synchronous_commit=off',
    });
    return {
        async report({ id, slots, busy, progressAt }) {
            await pool.query(
                `with gone as (delete from fleet_workers where id = any (array(
                     select id from fleet_workers where expires_at < fleet_now() - interval '1 minute' for update skip locked)))
                 insert into fleet_workers (id, slots, busy, progress_at, expires_at)
                 values ($1, $2, $3, fleet_now() - make_interval(secs => $4), fleet_now() + make_interval(secs => $5))
                 on conflict (id) do update set slots = excluded.slots, busy = excluded.busy,
                     progress_at = excluded.progress_at, expires_at = excluded.expires_at`,
                [id, slots, busy, sinceMs(progressAt) / 1000, WORKER_LIFE_MS / 1000],
            );
        },
        async live() {
            const { rows } = await pool.query<{ id: string; slots: number; busy: number; progress_s: number }>(
                `select id, slots, busy, extract(epoch from fleet_now() - progress_at)::float8 as progress_s
                 from fleet_workers where expires_at > fleet_now() order by id`,
            );
            return rows.map(({ id, slots, busy, progress_s }) => ({ id, slots, busy, progressAt: Date.now() - progress_s * 1000 }));
        },
        close: () => pool.end(),
    };
}

/** Reports contain an age instead of a time, because the clocks of two machines differ. */
function sinceMs(progressAt: number): number {
    return Math.max(0, Math.round(Date.now() - progressAt));
}
