import { expect } from 'chai';
import { parseExact } from '../../shared/domain/json/exact-numbers.ts';
import { compareValues, type IdsOf, isChange } from '../../shared/domain/monitors/diff.ts';
import type { Json, JsonObject } from '../../shared/domain/types.ts';

const byId: IdsOf = (items) =>
    items.map((item) => {
        const id = (item as JsonObject | null)?.['id'];
        return id === undefined || id === null ? null : JSON.stringify(id);
    });

interface Case {
    title: string;
    before: string;
    after: string;
    ids?: boolean;
    added?: Json[];
    removed?: Json[];
    changed?: unknown[];
}

const CASES: Case[] = [
    { title: 'nothing where nothing is other', before: '{"a":[1,{"b":2}]}', after: '{"a":[1,{"b":2}]}' },
    { title: 'nothing where fields are in another order', before: '{"a":1,"b":2}', after: '{"b":2,"a":1}' },
    { title: 'nothing where items are in another order', before: '[1,2,3]', after: '[3,1,2]' },
    { title: 'nothing where items with ids are in another order', ids: true, before: '[{"id":1},{"id":2}]', after: '[{"id":2},{"id":1}]' },
    { title: 'nothing where a field that was null is missing', before: '{"a":null}', after: '{}' },
    { title: 'a value that changed', before: '{"a":{"b":1}}', after: '{"a":{"b":2}}', changed: [{ path: '/a/b', before: 1, after: 2 }] },
    { title: 'a field that came', before: '{}', after: '{"a":1}', changed: [{ path: '/a', before: null, after: 1 }] },
    { title: 'a field that went', before: '{"a":1}', after: '{}', changed: [{ path: '/a', before: 1, after: null }] },
    { title: 'a value of another type', before: '{"a":1}', after: '{"a":"1"}', changed: [{ path: '/a', before: 1, after: '1' }] },
    { title: 'an array in place of a field', before: '{"a":{}}', after: '{"a":[]}', changed: [{ path: '/a', before: {}, after: [] }] },
    { title: 'the whole, where it is one value', before: '1', after: '2', changed: [{ path: '', before: 1, after: 2 }] },
    { title: 'fields with special names', before: '{"a/b":1}', after: '{"a/b":2}', changed: [{ path: '/a~1b', before: 1, after: 2 }] },
    { title: 'an item that came', before: '[1]', after: '[2,1]', added: [2] },
    { title: 'an item that went', before: '[1,2]', after: '[2]', removed: [1] },
    { title: 'a repeated item that is there once more', before: '[1]', after: '[1,1]', added: [1] },
    { title: 'a repeated item that is there once less', before: '[1,1]', after: '[1]', removed: [1] },
    { title: 'whole items without ids', before: '[{"a":1}]', after: '[{"a":2}]', added: [{ a: 2 }], removed: [{ a: 1 }] },
    {
        title: 'what changed of an item with an id',
        ids: true,
        before: '[{"id":1,"price":5},{"id":2,"price":5}]',
        after: '[{"id":2,"price":6},{"id":1,"price":5}]',
        changed: [{ path: '/0/price', before: 5, after: 6 }],
    },
    {
        title: 'items with ids that came and went',
        ids: true,
        before: '{"items":[{"id":1},{"id":2}]}',
        after: '{"items":[{"id":2},{"id":3}]}',
        added: [{ id: 3 }],
        removed: [{ id: 1 }],
    },
    {
        title: 'whole items where an id is missing',
        ids: true,
        before: '[{"id":1,"a":1},{"a":1}]',
        after: '[{"id":1,"a":2},{"a":1}]',
        added: [{ id: 1, a: 2 }],
        removed: [{ id: 1, a: 1 }],
    },
    {
        title: 'whole items where an id is repeated',
        ids: true,
        before: '[{"id":1,"a":1},{"id":1,"a":2}]',
        after: '[{"id":1,"a":1},{"id":1,"a":3}]',
        added: [{ id: 1, a: 3 }],
        removed: [{ id: 1, a: 2 }],
    },
    { title: 'a number by its digits', before: '9007199254740993', after: '9007199254740992', changed: [{ path: '' }] },
];

describe('the difference of two values', () => {
    for (const { title, before, after, ids, added = [], removed = [], changed = [] } of CASES) {
        it(`is ${title}`, () => {
            const found = compareValues(parseExact(before), parseExact(after), ids ? byId : undefined);
            expect(found.diff.added).to.deep.equal(added);
            expect(found.diff.removed).to.deep.equal(removed);
            expect(found.diff.changed).to.have.length(changed.length);
            for (const [at, entry] of changed.entries()) expect(found.diff.changed[at]).to.deep.include(entry);
            expect(isChange(found)).to.equal(added.length + removed.length + changed.length > 0);
            expect(found.isTruncated).to.equal(false);
        });
    }

    it('keeps the digits of a large number', () => {
        const { diff } = compareValues(parseExact('{"a":1}'), parseExact('{"a":9007199254740993}'));
        expect(JSON.stringify(diff.changed)).to.equal('[{"path":"/a","before":1,"after":9007199254740993}]');
    });

    it('ends after 1,000 entries', () => {
        const found = compareValues(
            [],
            Array.from({ length: 1200 }, (_, n) => n),
        );
        expect(found.diff.added).to.have.length(1000);
        expect(found.isTruncated).to.equal(true);
    });

    it('ends after 256 KiB', () => {
        const found = compareValues(
            [],
            Array.from({ length: 500 }, (_, n) => `${n} ${'x'.repeat(1000)}`),
        );
        expect(JSON.stringify(found.diff).length).to.be.within(250 * 1024, 256 * 1024);
        expect(found.isTruncated).to.equal(true);
    });

    it('is a change even if no entry of it can be shown', () => {
        const found = compareValues('', 'x'.repeat(300 * 1024));
        expect(found.diff).to.deep.equal({ added: [], removed: [], changed: [] });
        expect(isChange(found)).to.equal(true);
    });
});
