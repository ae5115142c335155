import { expect } from 'chai';
import { newId, newTimedId } from '../../shared/domain/text/ids.ts';

describe('ids', () => {
    it('orders ids of rows of calls and events by their time, byte by byte, as PostgreSQL does', () => {
        const times = [0, 9, 10, 35, 36, 61, 62, 3843, 3844, 1.7e12, 1.7e12 + 1, 1.8e12, 62 ** 8 - 1];
        const ids = times.map((at) => newTimedId('op', at));
        expect(ids).to.deep.equal(ids.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other))));
    });

    it('tells ids of one millisecond apart', () => {
        const ids = Array.from({ length: 10_000 }, () => newTimedId('op', 1.8e12));
        expect(new Set(ids).size).to.equal(ids.length);
        for (const id of ids) expect(id).to.match(/^op_[0-9A-Za-z]{22}$/);
    });

    it('reveals no time in other ids', () => {
        const ids = Array.from({ length: 100 }, () => newId('usr'));
        expect(new Set(ids.map((id) => id.slice(0, 7))).size).to.be.greaterThan(90);
    });
});
