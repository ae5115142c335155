import { expect } from 'chai';
import { runAll } from './all.ts';
import type { Behaviour } from './behaviour.ts';
import { BEHAVIOURS } from './behaviours.ts';

/** Other tests and other people's work share the machine; `npm run test:long` is strict. */
const PATIENCE = { atOnce: 8000, afterDeadline: 3000, afterCap: 5000 };

describe('a site that', function () {
    this.timeout(120_000);
    const asked = new Set<Behaviour>();
    let outcome: Awaited<ReturnType<typeof runAll>>;

    before(async () => {
        outcome = await runAll(BEHAVIOURS, { lanes: 24, busyLanes: 6, patience: PATIENCE });
    });

    for (const behaviour of BEHAVIOURS) {
        it(`${behaviour.name}: ${behaviour.read.code}`, async () => {
            // All of them are one run; where CI lets a test try again, it does so alone.
            const isAsked = asked.has(behaviour);
            asked.add(behaviour);
            const { faults } = isAsked ? await runAll([behaviour], { lanes: 1, busyLanes: 1, patience: PATIENCE }) : outcome;
            expect(faults.get(behaviour)).to.deep.equal([]);
        });
    }

    it('misbehaves in any of these ways moves no credit that was not told, and leaves none on hold', () => {
        expect(outcome.drift).to.deep.equal([]);
    });

    it('misbehaves is no bug of ours', () => expect(outcome.bugs).to.deep.equal([]));

    it('misbehaves does so in more than forty ways, each told once', () => {
        const names = BEHAVIOURS.map(({ name }) => name);
        expect(new Set(names).size).to.equal(names.length);
        expect(names.length).to.be.above(40);
    });
});
