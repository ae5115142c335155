import { fillPool, restartPostgres, slowPostgres } from '../faults/hurt-postgres.ts';
import { onBed } from '../support/fault-bed.ts';

/** Full counts of what test/faults/outages.spec.ts does once. Each ends with an audit of callers, ledger and site. */
describe('two APIs and two workers', () => {
    it(
        'serve calls within 2 s after each of 20 restarts of PostgreSQL, fast and immediate (R8)',
        onBed((bed) => restartPostgres(bed, { times: 20 })),
    );

    it(
        'reject browse requests before other calls while each query takes 500 ms, for 15 s (R9)',
        onBed((bed) => slowPostgres(bed, { ms: 15_000 })),
    );

    it(
        'let no call wait longer than a second for a connection to PostgreSQL while all are in use, for 10 s (R9)',
        onBed((bed) => fillPool(bed, { ms: 10_000 })),
    );
});
