import { expect } from 'chai';
import { monitorExpressionFault } from '../../shared/domain/monitors/expression.ts';

describe('an expression of a monitor', () => {
    for (const expression of ['items[].id', 'length(diff.added) > `0`', 'after.price < before.price && after.stock', '@']) {
        it(`may be ${expression}`, () => {
            expect(monitorExpressionFault(expression)).to.equal(undefined);
        });
    }

    for (const [expression, says] of [
        ['', 'empty'],
        ['a[', 'ends too early'],
        ['length(', 'ends too early'],
        ['foo bar', 'character 5'],
        ['a[?x=`1`]', 'character 5'],
        ['a ]', 'character 3'],
        ['a && #', 'character 6'],
        ['a && b || && c', 'character 11'],
        ['"abc', 'character 1'],
        ['nope(a)', 'function'],
        ['a'.repeat(1001), '1000 characters'],
    ] as const) {
        it(`is refused as ${expression.slice(0, 20)}, with the place: ${says}`, () => {
            expect(monitorExpressionFault(expression)).to.include(says);
        });
    }
});
