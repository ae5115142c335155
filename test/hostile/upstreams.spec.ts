import { expect } from 'chai';
import { runAll } from './all.ts';
import { BEHAVIOURS } from './behaviours.ts';

/** Shorter than the caller's own 30 s, which a wrong hang takes. `npm run test:long` compares the times with docs/billing.md. */
const PATIENCE = { atOnce: 25_000, afterDeadline: 25_000, afterCap: 25_000 };

describe('a site that', () => {
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

    it('misbehaves in any of these ways moves no credit that was not reported, and leaves none on hold', () => {
        expect(outcome.drift).to.deep.equal([]);
    });

    it('misbehaves causes no logged bug', () => expect(outcome.bugs).to.deep.equal([]));

    it('misbehaves does so in more than forty ways, each listed once', () => {
        const names = BEHAVIOURS.map(({ name }) => name);
        expect(new Set(names).size).to.equal(names.length);
        expect(names.length).to.be.above(40);
    });
});
