import { expect } from 'chai';
import { fillPool, restartPostgres, slowPostgres } from '../faults/hurt-postgres.ts';
import { killWorkers, pauseWorkers, replaceAll } from '../faults/hurt-processes.ts';
import { emptyRedis, fillRedis, killRedis, silenceRedis } from '../faults/hurt-redis.ts';
import { onBed } from '../support/fault-bed.ts';

/** Full counts of what test/faults/outages.spec.ts does once. Each ends with an audit of callers, ledger and site. */
describe('two APIs and two workers', () => {
    it(
        'keep every balance equal to its ledger through 30 faults of all kinds, and their metrics say so (R17)',
        onBed(async (bed) => {
            const faults = [
                () => killWorkers(bed, { deaths: 2 }),
                () => pauseWorkers(bed, { pauses: 1 }),
                () => killRedis(bed, { seconds: 1 }),
                () => silenceRedis(bed, { seconds: 4 }),
                () => fillRedis(bed, { ms: 1000 }),
                () => emptyRedis(bed, { times: 2 }),
                () => restartPostgres(bed, { times: 2 }),
                () => slowPostgres(bed, { ms: 2000 }),
                () => fillPool(bed, { ms: 2500 }),
                () => replaceAll(bed, { restarts: 4 }),
            ];
            for (let round = 0; round < 3; round++) {
                for (const fault of faults) await fault();
                // Another order in each round.
                faults.push(...faults.splice(0, 3).reverse());
            }
            for (const base of bed.bases) {
                expect(await (await fetch(`${base}/metrics`)).text()).to.match(/^routebook_ledger_drift_accounts 0$/m);
            }
        }),
    );
});
