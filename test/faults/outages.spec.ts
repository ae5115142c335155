import { eventually } from '../support/eventually.ts';
import { type FaultBed, openFaultBed } from '../support/fault-bed.ts';
import { needs } from '../support/system-programs.ts';
import { fillPool, restartPostgres, slowPostgres } from './hurt-postgres.ts';
import { killWorkers, pauseWorkers, replaceAll } from './hurt-processes.ts';
import { emptyRedis, fillRedis } from './hurt-redis.ts';

/** Each fault once, on any machine. `npm run test:long` has the full counts and the times. */
describe('two APIs and two workers under load', () => {
    let bed: FaultBed;

    before(async function () {
        needs(this, 'postgresql', 'redis');
        bed = await openFaultBed({ isShort: true });
    });

    after(() => bed?.close());

    it('answer every caller when a worker is killed, and send no write twice (R1, R2)', () => killWorkers(bed, { deaths: 1 }));

    it('neither charge nor deliver what a paused worker reports too late (R3)', () => pauseWorkers(bed, { pauses: 1 }));

    it('refuse while PostgreSQL restarts, and are good again (R8)', () => restartPostgres(bed, { times: 2 }));

    it('refuse browsers before fetches while PostgreSQL answers slowly (R9)', () => slowPostgres(bed, { ms: 1500 }));

    it('refuse who waits for a connection while all are taken (R9)', () => fillPool(bed, { ms: 2500 }));

    it('hold nothing and refuse in words while Redis is full (R6)', () => fillRedis(bed, { ms: 2000 }));

    it('lose no credit when Redis is emptied (R7)', () => emptyRedis(bed, { times: 1 }));

    it('report that no worker makes progress, although all of them still run (L14)', async () => {
        const health = async () => (await fetch(`${bed.bases[0]}/v1/health`)).status;
        for (const worker of bed.workers) worker.signal('SIGSTOP');
        await eventually(health, (status) => status === 503, 15_000 + bed.spareMs);
        for (const worker of bed.workers) worker.signal('SIGCONT');
        await eventually(health, (status) => status === 200, 5000 + bed.spareMs);
    });

    it('lose no call when all of them are replaced one after the other (R19)', () => replaceAll(bed, { restarts: 4 }));
});
