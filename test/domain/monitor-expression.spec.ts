import { expect } from 'chai';
import jmespath from 'jmespath';
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

    // A thousand prefixes of one expression once blocked all requests for 0.3 s.
    for (const [what, expression] of [
        ['an unknown sign in its middle', `${'a.'.repeat(250)}%${'a.'.repeat(249)}`],
        ['a quotation without an end', `${'a.'.repeat(250)}"${'b'.repeat(499)}`],
        ['a literal that is no JSON', `\`${'[1,'.repeat(330)}\``],
    ] as const) {
        it(`is parsed a few times, not once for each of its characters, with ${what}`, () => {
            const { tokenize } = jmespath;
            let characters = 0;
            jmespath.tokenize = (text: string) => {
                characters += text.length;
                return tokenize(text);
            };
            try {
                expect(monitorExpressionFault(expression)).to.include('It goes wrong at character');
            } finally {
                jmespath.tokenize = tokenize;
            }
            expect(characters).to.be.at.most(4 * expression.length);
        });
    }
});
