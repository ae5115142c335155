import { expect } from 'chai';
import { createReader, type Reader } from '../../workers/select/reader.ts';
import type { WatchOrder } from '../../workers/select/watched.ts';

/** An expression that doubles its input repeatedly. */
const DOUBLING = Array.from({ length: 26 }, () => '[@,@][]').join(' | ');

describe('reading the watched part of a result', () => {
    let reader: Reader;
    before(() => {
        reader = createReader({ threads: 1 });
    });
    after(() => reader.close());

    const watch = (order: Partial<WatchOrder>) => reader.watch({ data: '{}', watch: null, identity: null, when: 'changed', ...order });
    async function seen(order: Partial<WatchOrder>) {
        const answer = await watch(order);
        if (!answer.ok) throw new Error(`${answer.code}: ${answer.message}`);
        const { ok: _ok, diff, ...rest } = answer;
        return { ...rest, diff: diff === undefined ? undefined : JSON.parse(diff) };
    }
    async function faultOf(order: Partial<WatchOrder>) {
        const answer = await watch(order);
        if (answer.ok) throw new Error('it was read');
        return answer;
    }

    it('returns all of a result, or the selection of the expression, with all digits', async () => {
        const data = '{"items":[{"id":9007199254740993}],"at":1}';
        expect((await seen({ data })).text).to.equal(data);
        expect((await seen({ data, watch: 'items[].id' })).text).to.equal('[9007199254740993]');
        expect((await seen({ data, watch: 'none' })).text).to.equal('null');
    });

    it('sees no change in a price when only a hash beside it changes', async () => {
        const data = '{"etag":"9e107d9d372bb682","items":[{"price":19.90}]}';
        const { text } = await seen({ data: '{"etag":"e4d909c290d0fb1c","items":[{"price":19.90}]}', watch: 'items[].price' });
        expect(await seen({ data, before: text, watch: 'items[].price' })).to.include({ isTold: false, diff: undefined });
    });

    it('reports nothing for the first run', async () => {
        expect(await seen({ data: '{"a":1}', when: 'always' })).to.include({ isTold: false, diff: undefined });
    });

    const one = '{"items":[{"id":1,"price":5}]}';
    const two = '{"items":[{"id":2,"price":9},{"id":1,"price":6}]}';

    it('compares items by their ids', async () => {
        for (const identity of ['id', '@.id', 'missing || id']) {
            const { diff, isTold } = await seen({ data: two, before: one, identity });
            expect(isTold).to.equal(true);
            expect(diff, identity).to.deep.equal({
                added: [{ id: 2, price: 9 }],
                removed: [],
                changed: [{ path: '/items/1/price', before: 5, after: 6 }],
            });
        }
    });

    it('compares complete items without ids', async () => {
        const { diff } = await seen({ data: two, before: one });
        expect(diff).to.deep.equal({
            added: [
                { id: 2, price: 9 },
                { id: 1, price: 6 },
            ],
            removed: [{ id: 1, price: 5 }],
            changed: [],
        });
    });

    for (const [when, isTold] of [
        ['changed', false],
        ['always', true],
        [{ expression: 'length(after.items) == `1`' }, true],
        [{ expression: 'length(diff.added) > `0`' }, false],
        // What is missing is not greater than anything.
        [{ expression: 'after.missing > before.missing' }, false],
        [{ expression: 'length(after.items) == `1` && after.missing < `5`' }, false],
    ] as const) {
        it(`${isTold ? 'reports' : 'does not report'} a run without a change with ${JSON.stringify(when)}`, async () => {
            expect(await seen({ data: one, before: one, when })).to.include({ isTold, diff: undefined });
        });
    }

    for (const [title, order, says] of [
        ['an expression that does not fit', { watch: 'sum(items)', data: one }, '/watch'],
        ['an identity that does not fit', { identity: 'sum(@)', data: two, before: one }, '/identity'],
        ['a condition that fails', { when: { expression: 'sum(after)' }, data: two, before: one }, '/when/expression'],
        ['a condition that is no boolean', { when: { expression: 'after' }, data: two, before: one }, 'neither true nor false'],
        ['an expression that takes too much work', { watch: DOUBLING, data: one }, ''],
        ['an identity that takes too much work', { identity: DOUBLING, data: two, before: one }, ''],
    ] as const) {
        it(`fails on ${title}`, async () => {
            const fault = await faultOf(order);
            expect(fault.code).to.equal('UPSTREAM_INVALID_RESPONSE');
            expect(fault.message).to.include(says);
        });
    }

    it('fails on a value of more than 1 MiB', async () => {
        const data = JSON.stringify({ a: 'x'.repeat(1024 * 1024) });
        expect((await faultOf({ data })).code).to.equal('UPSTREAM_TOO_LARGE');
        expect((await seen({ data, watch: 'length(a)' })).text).to.equal(String(1024 * 1024));
    });
});
