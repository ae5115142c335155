import { failOverRedis } from '../faults/fail-over.ts';
import { openFaultBed } from '../support/fault-bed.ts';
import { startRedisWithSentinels } from '../support/redis-sentinels.ts';
import { needs } from '../support/system-programs.ts';

describe('two APIs and two workers, whose primary dies under load,', () => {
    before(function () {
        needs(this, 'postgresql', 'redis');
    });

    it('follow the Sentinels to another Redis: good within 5 s, nobody hangs, nothing is charged twice', async () => {
        const redis = await startRedisWithSentinels();
        try {
            const bed = await openFaultBed({ settings: { REDIS_URL: redis.url } });
            try {
                await failOverRedis(bed, redis, { times: 3 });
            } finally {
                await bed.close();
            }
        } finally {
            await redis.remove();
        }
    });
});
