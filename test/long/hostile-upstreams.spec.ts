import { expect } from 'chai';
import { runAll } from '../hostile/all.ts';
import { BEHAVIOURS } from '../hostile/behaviours.ts';

const ROUNDS = 20;
/** The times of docs/billing.md, and 50 ms by which a timer of a busy process may be late. */
const PATIENCE = { atOnce: 2500, afterDeadline: 250, afterCap: 250 };

describe('calls to sites that misbehave', () => {
    it(`have the error, price and duration that docs/billing.md states, ${ROUNDS} of ${ROUNDS} times (E8)`, async () => {
        const wrong = new Map<string, string[]>();
        for (let round = 1; round <= ROUNDS; round++) {
            const { faults, drift, bugs } = await runAll(BEHAVIOURS, { callers: 24, busyCallers: 1, patience: PATIENCE });
            for (const [{ name }, found] of faults) {
                if (found.length > 0) wrong.set(name, [...(wrong.get(name) ?? []), ...found.map((fault) => `round ${round}: ${fault}`)]);
            }
            expect([drift, bugs]).to.deep.equal([[], []]);
            expect(faults.size).to.equal(BEHAVIOURS.length);
        }
        expect(Object.fromEntries(wrong)).to.deep.equal({});
    });
});
