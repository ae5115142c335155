import { expect } from 'chai';
import { formats } from '../../api/dashboard/formats.ts';

describe('an estimated duration on a page', () => {
    it('is in the largest unit of which there are two', () => {
        const shown = [0, 1, 119, 120, 7199, 7200, 200_000].map((seconds) => formats.about(seconds));
        expect(shown).to.deep.equal([
            'about 1 second',
            'about 1 second',
            'about 119 seconds',
            'about 2 minutes',
            'about 120 minutes',
            'about 2 hours',
            'about 2 days',
        ]);
    });
});

describe('a time in a statement or an audit log', () => {
    it('has its year, since they reach back beyond one', () => {
        expect(formats.exact(new Date('2025-12-31T23:05:09Z'))).to.equal('31 Dec 2025, 23:05:09');
    });
});
