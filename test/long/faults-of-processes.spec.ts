import { killWorkers, pauseWorkers, replaceAll } from '../faults/hurt-processes.ts';
import { onBed } from '../support/fault-bed.ts';

/** Full counts of what test/faults/outages.spec.ts does once. Each ends with an audit of callers, ledger and site. */
describe('two APIs and two workers', () => {
    it(
        'neither charge nor deliver results of workers that hang for 10 s, six times (R3)',
        onBed((bed) => pauseWorkers(bed, { pauses: 6, ms: 10_000 })),
    );

    it(
        'answer every call and charge none twice while workers are killed 100 times at 50 calls/s (R1, R2)',
        onBed((bed) => killWorkers(bed, { deaths: 100, isPatient: true })),
    );

    it(
        'lose no call in 100 rolling restarts, 50 of APIs and 50 of workers (R19)',
        onBed((bed) => replaceAll(bed, { restarts: 100 })),
    );
});
