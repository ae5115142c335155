import { expect } from 'chai';
import { type CheerioAPI, load } from 'cheerio';
import fc from 'fast-check';
import { createFinder } from '../../workers/select/finder.ts';

type Matches = ReturnType<CheerioAPI>;

/** What cheerio finds in one row, without a finder. */
function expectedIn(row: Matches, selector: string, isFirstAlone: boolean): unknown[] {
    const found: unknown[] = [];
    const value = (element: unknown): void => {
        found.push(element);
    };
    row.extract({ it: isFirstAlone ? { selector, value } : [{ selector, value }] });
    return found;
}

const SELECTORS = [
    ...['b', '.a', '.a b', '.a > b', 'i + b', 'i ~ b', '> b', '> .a b', 'li b', 'b, i', ':scope', ':scope > b', '+ li', '~ li b'],
    ...[
        'b:first',
        'b:eq(1)',
        'b:last',
        'b:not(.a)',
        'b:not(.a b)',
        'b:not(:first)',
        'b:first-child',
        'b:nth-child(2n + 1)',
        'b:nth-of-type(2)',
    ],
    ...[
        'b:contains(x)',
        "b:contains('x, y')",
        'b:has(i)',
        'b:has(> i)',
        '[title="x > y, z"]',
        "[title^='x:']",
        '[data-\\:n]',
        'ul .a b',
        '*',
        'b:empty',
    ],
];

/** Elements that are inside each other in any way, with classes and titles that the selectors name. */
const { node } = fc.letrec<{ node: string }>((tie) => ({
    node: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom('x', 'x, y', '<i>x</i>', '<b data-:n=1></b>', '<b title="x > y, z">x</b>', "<i title='x:1'>y</i>"),
        fc
            .record({
                tag: fc.constantFrom('b', 'i', 'div', 'ul', 'li'),
                name: fc.constantFrom('', ' class=a'),
                inner: fc.array(tie('node'), { maxLength: 3 }),
            })
            .map(({ tag, name, inner }) => `<${tag}${name}>${inner.join('')}</${tag}>`),
    ),
}));

describe('the elements that are found in the rows of a long list', () => {
    it('are those that are found in each row by itself, whatever the rows and the selectors are', () => {
        const rows = fc.array(fc.array(node, { maxLength: 4 }), { minLength: 1, maxLength: 8 });
        fc.assert(
            fc.property(rows, fc.constantFrom('', ' class=a'), (lists, name) => {
                const items = lists.map((inner) => `<li>${inner.join('')}</li>`).join('');
                const $ = load(`<div${name}><ul>${items}</ul></div>`);
                for (const list of ['li', 'ul > li', '.a li', 'li:first-child', 'b']) {
                    const finder = createFinder($.root()).inside(list);
                    for (const element of $(list)) {
                        const row = $(element) as unknown as Matches;
                        for (const selector of SELECTORS) {
                            for (const isFirstAlone of [true, false]) {
                                const found = finder.find(row, selector, isFirstAlone);
                                expect([...found], `${list} ${selector} in ${$.html()}`).to.have.ordered.members(
                                    expectedIn(row, selector, isFirstAlone),
                                );
                            }
                        }
                    }
                }
            }),
            { numRuns: 30 },
        );
    });

    it('are looked for once for all rows', () => {
        const $ = load(Array.from({ length: 40 }, (_, row) => `<li><b>${row}</b></li>`).join(''));
        const finder = createFinder($.root()).inside('li');
        const found = $('li')
            .toArray()
            .map((element) => {
                const row = $(element) as unknown as Matches;
                row.extract = () => expect.fail('A search in this row alone.');
                return finder.find(row, 'b', true).map((match) => $(match).text());
            });
        expect(found).to.deep.equal(Array.from({ length: 40 }, (_, row) => [String(row)]));
    });

    it('are found in rows of rows, too', () => {
        const tags = (row: number) => Array.from({ length: 3 }, (_, tag) => `<li><b>${row}.${tag}</b><i>x</i></li>`).join('');
        const $ = load(Array.from({ length: 40 }, (_, row) => `<section><ul>${tags(row)}</ul></section>`).join(''));
        const inner = createFinder($.root()).inside('section').inside('ul > li');
        const texts = $('section ul > li')
            .toArray()
            .map((element) => inner.find($(element) as unknown as Matches, 'b', true).map((found) => $(found).text()));
        expect(texts.slice(0, 4)).to.deep.equal([['0.0'], ['0.1'], ['0.2'], ['1.0']]);
        expect(texts).to.have.length(120);
    });
});
