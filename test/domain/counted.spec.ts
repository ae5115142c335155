import { expect } from 'chai';
import { counted } from '../../shared/domain/text/counted.ts';

describe('a number in a message', () => {
    it('is singular for one, and plural otherwise', () => {
        expect([0, 1, 2, 1000].map((count) => counted(count, 'credit'))).to.deep.equal([
            '0 credits',
            '1 credit',
            '2 credits',
            '1000 credits',
        ]);
    });
});
