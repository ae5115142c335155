import { killTwo, openPoisonBed, type PoisonBed } from '../faults/poison.ts';
import { TOPOLOGIES } from '../support/world.ts';

for (const topology of TOPOLOGIES) {
    describe(`endpoints that kill their workers, at length (${topology})`, () => {
        let bed: PoisonBed;

        before(async () => {
            bed = await openPoisonBed(topology);
        });
        after(() => bed?.close());

        it('kill two of them and never a third, in five versions one after the other (R20)', async () => {
            for (let version = 0; version < 5; version++) await killTwo(bed);
        });
    });
}
