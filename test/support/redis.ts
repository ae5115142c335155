import { randomBytes } from 'node:crypto';

/**
 * The Redis server of this test run; undefined if only the topology without Redis is tested. Never flush it, since it may contain other
 * data.
 */
export function testRedisUrl(): string | undefined {
    return process.env['TEST_REDIS_URL'];
}

/** A prefix for all keys of one test, so that tests and other users of the same Redis do not collide. */
export function uniquePrefix(): string {
    return `rbtest-${randomBytes(6).toString('hex')}`;
}
