import { fillPool, restartPostgres, slowPostgres } from '../faults/hurt-postgres.ts';
import { onBed } from '../support/fault-bed.ts';

/** Full counts of what test/faults/outages.spec.ts does once. Each ends with an audit of callers, ledger and site. */
describe('two APIs and two workers, whose PostgreSQL is hurt,', () => {
    it(
        'are good within 2 s of 20 restarts of PostgreSQL, fast and immediate (R8)',
        onBed((bed) => restartPostgres(bed, { times: 20 })),
    );

    it(
        'refuse browsers before anybody else while PostgreSQL takes 500 ms for each question, for 15 s (R9)',
        onBed((bed) => slowPostgres(bed, { ms: 15_000 })),
    );

    it(
        'let nobody wait for a connection beyond a second while all of them are taken, for 10 s (R9)',
        onBed((bed) => fillPool(bed, { ms: 10_000 })),
    );
});
