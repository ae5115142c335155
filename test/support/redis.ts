import { randomBytes } from 'node:crypto';

/** The Redis server of this test run; undefined if only the topology without Redis is tested. It may be somebody's own: never flush it. */
export function testRedisUrl(): string | undefined {
    return process.env['TEST_REDIS_URL'];
}

/** A prefix for every key of one test, so that tests and other users of the same Redis never meet. */
export function uniquePrefix(): string {
    return `rbtest-${randomBytes(6).toString('hex')}`;
}
