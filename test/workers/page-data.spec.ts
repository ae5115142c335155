import { expect } from 'chai';
import { load } from 'cheerio';
import { type DataEntry, dataIn } from '../../workers/select/page-data.ts';

function found(html: string, entry: DataEntry): unknown[] {
    return [...dataIn(load(html).root(), entry, { path: '/select/a', base: 'https://shop.test/' })];
}

function item(id: string, refs: readonly string[]): string {
    return `<p id=${id} itemprop=${id} itemscope itemtype=Product itemref="${refs.join(' ')}"></p>`;
}

describe('data inside pages, within bounds', () => {
    const entry = { microdata: 'Product' };
    const tooMuch = 'The answer takes too much work to select and validate.';

    it('refuses items that all name each other', () => {
        const names = [...'abcdefghi'];
        expect(() => found(names.map((name) => item(name, names)).join(''), entry)).to.throw(tooMuch);
    });

    it('refuses pairs of items that each name the next pair', () => {
        const pairs = Array.from({ length: 18 }, (_, at) => [`l${at}`, `r${at}`]);
        const page = pairs.flatMap((pair, at) => pair.map((name) => item(name, pairs[at + 1] ?? []))).join('');
        expect(() => found(page, entry)).to.throw(tooMuch);
    });

    it('refuses a chain of items that no answer could nest', () => {
        const page = Array.from({ length: 10_000 }, (_, at) => item(`i${at}`, [`i${at + 1}`])).join('');
        expect(() => found(page, entry)).to.throw(tooMuch);
    });

    it('parses a state once, however many entries read it', () => {
        const $ = load('<script id=a>{"a":[1,2]}</script><script>window.B = {"b":1};</script>');
        const { parse } = JSON;
        let parses = 0;
        JSON.parse = (...args: Parameters<typeof parse>) => {
            parses++;
            return parse(...args) as unknown;
        };
        try {
            for (let entries = 0; entries < 5; entries++) {
                const where = { path: '/select/a', base: 'https://shop.test/' };
                expect([...dataIn($.root(), { selector: '#a', json: `a[${entries % 2}]` }, where)]).to.deep.equal([1 + (entries % 2)]);
                expect([...dataIn($.root(), { assign: 'window.B', json: 'b' }, where)]).to.deep.equal([1]);
            }
        } finally {
            JSON.parse = parse;
        }
        expect(parses).to.equal(2);
    });

    it('reads a state with a text of any length', () => {
        const script = `<script>window.A = {"a":undefined,"b":"${'x'.repeat(9_000_000)}"};</script>`;
        expect(found(script, { assign: 'window.A', json: '[a, length(b)]' })).to.deep.equal([[null, 9_000_000]]);
    });
});
