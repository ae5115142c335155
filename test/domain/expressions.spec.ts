import { expect } from 'chai';
import { expressionFault } from '../../shared/domain/package/rules/expressions.ts';
import { selectorFault } from '../../shared/domain/package/rules/selectors.ts';

describe('an expression of JMESPath', () => {
    for (const expression of ['items[].id', 'length(diff.added) > `0`', 'after.price < before.price && after.stock', '@']) {
        it(`may be ${expression}`, () => {
            expect(expressionFault(expression)).to.equal(undefined);
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
        ['"abc', 'character 1.'],
        ['nope(a)', 'function'],
        ['a || nope()', 'character 6'],
        ['()', 'character 2'],
        ['length()', 'takes 1 argument; here it has 0'],
        ['length(a, b)', 'takes 1 argument; here it has 2'],
        ['not_null()', 'at least 1'],
        ['sort_by(a, b)', '&'],
        ['length(&a)', '&'],
        ['&a', 'character 1.'],
        ['a[::0]', 'step'],
        ['a[0, 1]', 'character 4'],
        ['a[b]', 'character 3'],
        ['a.[b,]', 'character 6'],
        ['a.`1`', 'character 3'],
        ['"a"(b)', 'character 4'],
        ['a[ ?b]', 'character 4'],
        ['`[1,`', 'JSON'],
        ['"\\x"', 'JSON'],
        ['a'.repeat(1001), '1000 characters'],
    ] as const) {
        it(`is refused as ${expression.slice(0, 20)}, with the place: ${says}`, () => {
            expect(expressionFault(expression)).to.include(says);
        });
    }

    it('may be as deep as it is long', () => {
        for (const [deep, end] of [
            ['(', 'a' + ')'.repeat(499)],
            ['!', 'a'],
            ['[', 'a' + ']'.repeat(499)],
            ['a.', 'a'],
        ] as const)
            expect(expressionFault(deep.repeat(499) + end), deep).to.equal(undefined);
    });
});

describe('a CSS selector', () => {
    const nested = (levels: number, inner: string) => `a${':not('.repeat(levels)}${inner}${')'.repeat(levels)}`;

    it('nests up to 8 levels, since deeper ones take long to compile', () => {
        expect(selectorFault(nested(8, 'b'))).to.equal(undefined);
        expect(selectorFault(nested(9, 'b'))).to.include('8 levels');
        expect(selectorFault(nested(9, 'b,[c=")))))))))"]'))).to.include('8 levels');
    });

    it('may have any parentheses in texts and names, and any number side by side', () => {
        for (const selector of [`[a="${'('.repeat(50)}"]`, `[a='${'('.repeat(50)}']`, `a${'\\('.repeat(50)}`, ':not(a)'.repeat(50)])
            expect(selectorFault(selector), selector).to.equal(undefined);
    });
});
