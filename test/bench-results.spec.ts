import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { GOALS, verdictOf } from '../bench/goals.ts';
import { render } from '../bench/render.ts';
import { type BenchResults, median } from '../bench/results.ts';

const read = (name: string) => readFileSync(new URL(`../bench/${name}`, import.meta.url), 'utf8');
const results = JSON.parse(read('results.json')) as BenchResults;

describe('the published results of the bench', () => {
    it('say what the raw repetitions say', () => {
        expect(read('RESULTS.md')).to.equal(render(results));
    });

    it('come from a full run that names its commit, its day and its machine', () => {
        expect(results.mode).to.equal('full');
        expect(results.commit).to.match(/^[0-9a-f]{12}/);
        expect(new Date(results.date).toISOString()).to.equal(results.date);
        expect(results.machine.cores).to.be.above(0);
    });

    for (const { id, shows, values } of GOALS) {
        it(`measure ${id} at least three times: ${shows}`, () => {
            const measured = values(results);
            expect(measured).to.have.length.of.at.least(3);
            for (const value of measured) expect(value).to.satisfy(Number.isFinite);
        });
    }
});

describe('a verdict of the bench', () => {
    const atLeast = { goal: { atLeast: 0.38 }, floor: { atLeast: 0.28 } };
    const atMost = { goal: { atMost: 850 }, floor: { atMost: 1200 } };

    it('tells a goal from a floor, whichever way is better', () => {
        expect(verdictOf(atLeast, 0.38)).to.equal('goal met');
        expect(verdictOf(atLeast, 0.3)).to.equal('above floor');
        expect(verdictOf(atLeast, 0.27)).to.equal('BELOW FLOOR');
        expect(verdictOf(atMost, 850)).to.equal('goal met');
        expect(verdictOf(atMost, 1100)).to.equal('above floor');
        expect(verdictOf(atMost, 1201)).to.equal('BELOW FLOOR');
    });

    it('names what has no floor, no goal or no figure', () => {
        expect(verdictOf({ goal: { atMost: 40 } }, 41)).to.equal('below goal');
        expect(verdictOf({}, 41)).to.equal('for information');
        expect(verdictOf(atMost, median([]))).to.equal('not measured');
    });
});
