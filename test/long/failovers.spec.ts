import { failOverPostgres, failOverRedis } from '../faults/fail-over.ts';
import { startDebianPostgres } from '../support/debian-postgres.ts';
import { openFaultBed } from '../support/fault-bed.ts';
import { freePort } from '../support/free-port.ts';
import { startPgBouncer } from '../support/pgbouncer.ts';
import { startRedisWithSentinels } from '../support/redis-sentinels.ts';
import { needs } from '../support/system-programs.ts';

describe('two APIs and two workers under load', () => {
    before(function () {
        needs(this, 'postgresql', 'redis');
    });

    it('serve calls within 5 s after the Sentinels promote another Redis; no call hangs or is charged twice', async () => {
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

    it('serve calls within 5 s after PgBouncer leads to a promoted standby of PostgreSQL; no call hangs or is charged twice', async function () {
        needs(this, 'pgbouncer');
        // The caller learns of a charge only once the standby has it.
        const server = await startDebianPostgres();
        const standby = await startDebianPostgres({ standbyOf: server });
        const poolerPort = await freePort();
        const pooler = await startPgBouncer(server, poolerPort);
        try {
            await server.run("alter system set synchronous_standby_names = '*'");
            await server.run('select pg_reload_conf()');
            const bed = await openFaultBed({ postgres: { server, poolerPort } });
            try {
                await failOverPostgres(bed, standby, pooler);
            } finally {
                await bed.close();
            }
        } finally {
            await pooler.close();
            await standby.remove();
        }
    });
});
