import { expect } from 'chai';
import { fitToBudget } from '../../shared/agents/fit-to-budget.ts';
import { truncateJson } from '../../shared/domain/json/truncate-json.ts';

describe('a result that is larger than its budget', () => {
    it('is valid JSON within the budget, whatever its content', () => {
        const values = [
            { items: Array.from({ length: 5000 }, (_, id) => ({ id, title: `Thing ${id}`, about: 'x'.repeat(300) })) },
            { text: 'word '.repeat(50_000) },
            { emoji: '😀'.repeat(10_000) },
            Array.from({ length: 40 }, () => 'y'.repeat(5000)),
            { prices: Object.fromEntries(Array.from({ length: 5000 }, (_, id) => [`thing-${id}`, id])) },
        ];
        for (const value of values) {
            const { text, isCut } = fitToBudget(value, 3000);
            expect(isCut).to.equal(true);
            expect(text.length).to.be.at.most(3000);
            expect(JSON.parse(text)).to.have.property('note');
            expect(text.isWellFormed()).to.equal(true);
        }
        expect(fitToBudget({ a: 1 }, 3000)).to.deep.equal({ text: '{"a":1}', isCut: false });
        expect(fitToBudget({ a: 'x'.repeat(2900) }, 3000)).to.deep.equal({ text: `{"a":"${'x'.repeat(2900)}"}`, isCut: false });
    });

    it('says how much is missing, and contains as much as fits', () => {
        const items = Array.from({ length: 1000 }, (_, id) => ({ id }));
        const { text } = fitToBudget({ items, prices: Object.fromEntries(items.map(({ id }) => [`thing-${id}`, id])) }, 3000);
        const result = JSON.parse(text) as { items: unknown[]; prices: Record<string, unknown> };
        expect(result.items.at(-1)).to.equal(`… ${1001 - result.items.length} more`);
        expect(result.prices['…']).to.equal(`${1001 - Object.keys(result.prices).length} more`);
        expect(text.length).to.be.within(2900, 3000);
    });

    it('is never processed completely', () => {
        let looks = 0;
        const counted = new Proxy(Object.fromEntries(Array.from({ length: 50_000 }, (_, id) => [`thing-${id}`, { id }])), {
            get: (target, name) => {
                looks++;
                return Reflect.get(target, name);
            },
        });
        expect(fitToBudget([counted], 3000).isCut).to.equal(true);
        expect(looks).to.be.below(3000);
    });
});

describe('the beginning of a large response', () => {
    const value = { list: [{ 'a"b': 'c\\d é 😀', n: [1, [], {}] }, 'plain, [text] {here}', null, -1.5e3], more: { x: 'y'.repeat(50) } };

    for (const [how, text] of [
        ['in one line', JSON.stringify(value)],
        ['in many', JSON.stringify(value, null, 2)],
        ['with escapes', JSON.stringify(value).replaceAll('é', '\\u00e9')],
    ] as const) {
        it(`is valid JSON wherever it is cut, and says that there is more: written ${how}`, () => {
            for (let most = 1; most < text.length; most++) {
                const beginning = truncateJson(text, most);
                expect(() => JSON.parse(beginning), `${most}: ${beginning}`).to.not.throw();
                expect(beginning, String(most)).to.match(/…/);
            }
            expect(truncateJson(text, text.length)).to.equal(text);
        });
    }

    it('starts with its content, however many blanks a site sends first', () => {
        for (const text of ['{"ok":true}', '[1,2]']) {
            expect(truncateJson(`${' '.repeat(100)}${text}`, 20)).to.equal(text);
            expect(truncateJson(`${'\n'.repeat(100)}${text}${' '.repeat(100)}`, 20)).to.equal(text);
        }
        expect(JSON.parse(truncateJson(`${' '.repeat(100)}[1,2,3,4,5,6,7]`, 5))).to.deep.equal([1, 2, '… more']);
    });

    it('has the beginning of a long text', () => {
        expect(JSON.parse(truncateJson(JSON.stringify({ value: 'abcdefgh' }), 15))).to.deep.equal({ value: 'abcde…', '…': 'more' });
    });
});
