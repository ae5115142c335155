import type { Watched } from '../load/load.ts';
import { freePort, type Started, startNode, untilReady } from './processes.ts';
import { openRedis } from './servers.ts';
import { furnish, type Service, type Stack, startWorker } from './stack.ts';

/** A separate production topology with its own database and Redis, besides that of the stack. */
export interface Topology extends Service {
    watched: Record<string, Watched>;
    stop(): Promise<void>;
}

interface TopologyOptions {
    /** A migrated database. */
    databaseUrl: string;
    /** The pid of the postmaster. Its CPU time and that of its children is measured. */
    postgresPid: number;
    /** Further processes of the topology, by name. */
    beside?: Record<string, Watched>;
    /** Settings of API and worker in addition to those of the stack. */
    settings?: Readonly<Record<string, string>>;
}

/** Opens one API and one worker, with an account and the bench's package. */
export async function openTopology(stack: Stack, { databaseUrl, postgresPid, beside, settings: more }: TopologyOptions): Promise<Topology> {
    const redis = await openRedis();
    const port = String(await freePort());
    const settings = { ...stack.settings.production, DATABASE_URL: databaseUrl, REDIS_URL: redis.url, PORT: port, ...more };
    const api = startNode('bin/api.ts', [], settings);
    const stop = async (worker?: Started) => {
        await Promise.all([api.stop(), worker?.stop()]);
        await redis.stop();
    };
    try {
        const worker = await startWorker(settings);
        const base = `http://127.0.0.1:${port}`;
        await untilReady(`${base}/v1/health`);
        const apiKey = await furnish(base, settings, Number(new URL(stack.upstream).port));
        const watched = { api, worker, redis, postgres: { pid: postgresPid, children: true }, ...beside };
        return { base, apiKey, watched, stop: () => stop(worker) };
    } catch (error) {
        await stop();
        throw error;
    }
}
