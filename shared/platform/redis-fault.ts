import { openRedis } from './redis.ts';

/** The connections that stay open log that a server is away. */
const SILENT = { info() {}, warn() {}, error() {} };

/** What is wrong with a Redis that answers. `isFatal`: keys would be in another database than the URL names. */
export interface RedisFault {
    message: string;
    isFatal: boolean;
}

/**
 * Finds a database number that the server does not have, since ioredis then uses database 0, and a policy by which a full server deletes
 * keys of jobs and limits. Waits until the server answers. @param name the setting that contains the URL
 */
export async function findRedisFault(url: string, name: string): Promise<RedisFault | undefined> {
    const redis = openRedis(url, 'worker', 'redis check', SILENT);
    try {
        const { db = 0 } = redis.options;
        const refusal = await redis.select(db).then(
            () => undefined,
            (error: Error) => error.message,
        );
        if (refusal?.includes('out of range')) return { message: `${name}: this Redis has no database ${db}`, isFatal: true };
        // A role may be forbidden to ask.
        const memory = await redis.info('memory').catch(() => '');
        const [, policy = 'noeviction'] = /^maxmemory_policy:(\S+)/m.exec(memory) ?? [];
        if (policy === 'noeviction') return undefined;
        const message = `${name}: this Redis deletes keys when it is full (maxmemory-policy ${policy}): jobs and limits would be lost; set noeviction`;
        return { message, isFatal: false };
    } finally {
        redis.disconnect();
    }
}
