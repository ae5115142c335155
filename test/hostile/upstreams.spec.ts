import { expect } from 'chai';
import { runAll } from './all.ts';
import { BEHAVIOURS } from './behaviours.ts';

/** Other tests and other people's work share the machine; `npm run test:long` is strict. */
const PATIENCE = { atOnce: 8000, afterDeadline: 3000, afterCap: 5000 };

describe('a site that', function () {
    this.timeout(240_000);
    let outcome: Awaited<ReturnType<typeof runAll>>;

    before(async () => {
        outcome = await runAll(BEHAVIOURS, { callers: 12, busyCallers: 3, patience: PATIENCE });
    });

    for (const behaviour of BEHAVIOURS) {
        it(`${behaviour.name}: ${behaviour.read.code}`, () => {
            const found = outcome.faults.get(behaviour);
            expect(found, found?.join('\n')).to.deep.equal([]);
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
