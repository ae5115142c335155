import type { Config } from '../../shared/platform/config.ts';
import { type OwnRedis, startRedis } from '../queue/redis-server.ts';
import { type Running, startProcess } from './processes.ts';
import { openWorld, type Topology, type World } from './world.ts';

/** A world in which workers are separate processes, so that they can be killed. */
export interface WorldOfProcesses {
    world: World;
    /** Starts a worker. Resolves when it takes jobs. */
    startWorker(): Promise<Running>;
    /** Kills the workers that are still running. */
    close(): Promise<void>;
}

/**
 * Opens the world.
 * @param hosts addresses of host names
 * @param more.config settings of the API
 * @param more.settings environment variables of the workers
 */
export async function openWorldOfProcesses(
    topology: Topology,
    hosts: ReadonlyMap<string, readonly string[]>,
    { config = {}, settings = {} }: { config?: Partial<Config>; settings?: Readonly<Record<string, string>> } = {},
): Promise<WorldOfProcesses> {
    // Real processes use the product's fixed key prefix, so they need a separate Redis.
    const redis: OwnRedis | undefined = topology === 'redis' ? await startRedis() : undefined;
    const store = redis === undefined ? {} : { redisUrl: redis.url, keyPrefix: '{routebook}' };
    const world = await openWorld({ topology, workers: 0, config: { ...config, egressHosts: hosts, ...store } });
    const workers: Running[] = [];
    return {
        world,
        async startWorker() {
            const worker = startProcess('worker', {
                DATABASE_URL: world.databaseUrl,
                ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
                EGRESS_ALLOW: '127.0.0.0/8',
                EGRESS_HOSTS: [...hosts].map(([host, [address]]) => `${host}=${address}`).join(','),
                ...settings,
            });
            workers.push(worker);
            await worker.said('the worker takes jobs');
            return worker;
        },
        async close() {
            for (const worker of workers) await worker.end('SIGKILL');
            await world.close();
            await redis?.remove();
        },
    };
}
