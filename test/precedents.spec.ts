import { expect } from 'chai';
import { openPrecedents } from '../shared/precedents.ts';

const PLENTY = { windows: [{ limit: 10, remaining: 1 }], available: 500, amount: 5 };

describe('precedents of calls', () => {
    it('serve one call each, and only calls like the one that went through', () => {
        const precedents = openPrecedents();
        expect(precedents.take('a')).to.equal(false);
        precedents.set('a', PLENTY);
        expect(['b', 'a', 'a'].map((likeness) => precedents.take(likeness))).to.deep.equal([false, true, false]);
    });

    it('are not made by calls that leave little of a window, or of the credits', () => {
        for (const [what, less] of [
            ['a window', { windows: [...PLENTY.windows, { limit: 1000, remaining: 99 }] }],
            ['the last of a window', { windows: [{ limit: 5, remaining: 0 }] }],
            ['credits', { available: 499 }],
        ] as const) {
            const precedents = openPrecedents();
            precedents.set('a', { ...PLENTY, ...less });
            expect(precedents.take('a'), what).to.equal(false);
        }
    });
});
