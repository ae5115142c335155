import { hurtBatch, isUnknown } from '../faults/hurt-batch.ts';
import { openFaultBed } from '../support/fault-bed.ts';

describe('a batch of 20,000 items on two APIs and two workers', function () {
    this.timeout(3_600_000);

    it('ends each item once and charges only successes while workers and APIs are killed 50 times (J4)', async () => {
        const bed = await openFaultBed({ slowMs: 60, isUnknown });
        try {
            await hurtBatch(bed, { items: 20_000, kills: 50 });
        } finally {
            await bed.close();
        }
    });
});
