import { killTwo, openPoisonBed, type PoisonBed } from '../faults/poison.ts';
import { TOPOLOGIES } from '../support/world.ts';

for (const topology of TOPOLOGIES) {
    describe(`an endpoint that crashes workers (${topology})`, () => {
        let bed: PoisonBed;

        before(async () => {
            bed = await openPoisonBed(topology);
        });
        after(() => bed?.close());

        it('crashes two of them and never a third, in each of five versions (R20)', async () => {
            for (let version = 0; version < 5; version++) await killTwo(bed);
        });
    });
}
