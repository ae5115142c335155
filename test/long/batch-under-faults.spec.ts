import { hurtBatch, isUnknown } from '../faults/hurt-batch.ts';
import { openFaultBed } from '../support/fault-bed.ts';

describe('a batch on two APIs and two workers, hurt in every way,', function () {
    this.timeout(3_600_000);

    it('ends each of its 20,000 items once, and charges what succeeded, over 50 deaths of workers and of APIs (J4)', async () => {
        const bed = await openFaultBed({ slowMs: 60, isUnknown });
        try {
            await hurtBatch(bed, { items: 20_000, kills: 50 });
        } finally {
            await bed.close();
        }
    });
});
