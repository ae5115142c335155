import { expect } from 'chai';
import { checkAddresses } from '../egress/address-table.ts';

describe('the table of addresses, at length', () => {
    it('agrees with the IANA registries and with a library on a million random addresses and on every edge (E4)', () => {
        expect(checkAddresses(1_000_000)).to.be.above(250_000);
    }).timeout(0);
});
