import { ANY_TOPOLOGY } from '../support/world.ts';
import { killTwo, openPoisonBed, type PoisonBed } from './poison.ts';

for (const topology of ANY_TOPOLOGY) {
    describe(`an endpoint that kills its workers (${topology})`, () => {
        let bed: PoisonBed;

        before(async () => {
            bed = await openPoisonBed(topology);
        });

        after(() => bed?.close());

        it('is not called a third time, by anybody, until a new version; all others continue (R20)', () => killTwo(bed));
    });
}
