import { expect } from 'chai';
import { checkAddresses } from '../egress/address-table.ts';

describe('a million random addresses and every boundary', () => {
    it('are allowed or rejected as the IANA registries and a library say (E4)', () => {
        expect(checkAddresses(1_000_000)).to.be.above(250_000);
    }).timeout(0);
});
