import { createHmac, randomBytes } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { cursorSealer, openCursor } from '../../shared/domain/search/cursor.ts';
import type { Json } from '../../shared/domain/types.ts';

const key = randomBytes(32);
const query = ['getThings', { q: 'shoes', sort: 'name' }];

describe('a cursor', () => {
    it('returns its place for the query that it was issued for, in any spelling', () => {
        for (const place of [7, 'shop.test', [1.5, 'ß', null], { rank: 3 }]) {
            const cursor = cursorSealer(key, query)(place);
            expect(cursor).to.match(/^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{22}$/);
            expect(openCursor(key, ['getThings', { sort: 'name', q: 'shoes' }], cursor)).to.deep.equal(place);
        }
    });

    it('is refused for another query and for another key', () => {
        const cursor = cursorSealer(key, query)(7);
        const others: Json[] = [['getThings', { q: 'shoes' }], ['getOthers', { q: 'shoes', sort: 'name' }], null, 'getThings'];
        for (const other of others) expect(openCursor(key, other, cursor), JSON.stringify(other)).to.equal(undefined);
        expect(openCursor(randomBytes(32), query, cursor)).to.equal(undefined);
    });

    it('is sealed by an HMAC-SHA-256 of query and place, so that cursors of earlier releases stay valid', () => {
        for (const place of [7, 'a longer place, '.repeat(10)]) {
            const text = Buffer.from(JSON.stringify(place)).toString('base64url');
            const mac = createHmac('sha256', key).update(`["getThings",{"q":"shoes","sort":"name"}]\n${text}`).digest();
            expect(cursorSealer(key, query)(place)).to.equal(`${text}.${mac.toString('base64url', 0, 16)}`);
        }
    });

    it('cannot be invented or changed', () => {
        const cursor = cursorSealer(key, query)(7);
        fc.assert(
            fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' }), mutationsOf(cursor)), (text) => {
                fc.pre(text !== cursor);
                expect(openCursor(key, query, text)).to.equal(undefined);
            }),
            { numRuns: 2000 },
        );
    });
});

/** The cursor with one character replaced, removed or doubled. */
function mutationsOf(cursor: string): fc.Arbitrary<string> {
    return fc
        .tuple(fc.nat(cursor.length - 1), fc.constantFrom('', '.', 'A', 'z', '=', ' ', '\u0000', 'ß'))
        .map(([place, char]) => cursor.slice(0, place) + char + cursor.slice(place + 1));
}
