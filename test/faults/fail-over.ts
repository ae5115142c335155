import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { DebianPostgres } from '../support/debian-postgres.ts';
import type { FaultBed } from '../support/fault-bed.ts';
import type { PgBouncer } from '../support/pgbouncer.ts';
import type { RedisWithSentinels } from '../support/redis-sentinels.ts';
import { expectCodes, FATES, REFUSED_OR_LOST, untilGood } from './under-load.ts';

/** Fail-over of a primary under load. Each function fails if a goal is missed. */

/** From the death of a primary to the first success of each API, in milliseconds. */
const GOOD_AGAIN_MS = 5000;

/** Kills the primary of Redis. A replica takes over, and the old primary returns as its replica. */
export async function failOverRedis(bed: FaultBed, redis: RedisWithSentinels, { times }: { times: number }): Promise<void> {
    for (let time = 0; time < times; time++) {
        let goodAfter = 0;
        const history = await bed.load({
            perSecond: 40,
            until: (async () => {
                await sleep(500);
                await redis.killPrimary();
                goodAfter = Math.max(...(await Promise.all([0, 1].map((api) => untilGood(bed, api, 4 * GOOD_AGAIN_MS)))));
                await sleep(500);
            })(),
        });
        expectCodes(bed, history, REFUSED_OR_LOST);
        expect(goodAfter).to.be.below(GOOD_AGAIN_MS);
        await bed.check();
        await redis.startAgain();
    }
}

/** PostgreSQL crashes, its synchronous standby is promoted, and PgBouncer redirects everybody there. */
export async function failOverPostgres(bed: FaultBed, standby: DebianPostgres, pooler: PgBouncer): Promise<void> {
    let goodAfter = 0;
    const history = await bed.load({
        perSecond: 40,
        until: (async () => {
            await sleep(1000);
            const died = performance.now();
            await bed.postgres.stop('immediate');
            const away = await bed.call({ timeoutMs: 2000 });
            expect(away).to.include({ status: 503, code: 'SERVICE_UNAVAILABLE' });
            await standby.run('select pg_promote()');
            pooler.moveTo(standby);
            await Promise.all([0, 1].map((api) => untilGood(bed, api, 4 * GOOD_AGAIN_MS)));
            goodAfter = performance.now() - died;
            await sleep(1000);
        })(),
    });
    expectCodes(bed, history, FATES);
    expect(goodAfter).to.be.below(GOOD_AGAIN_MS);
    await bed.check();
}
