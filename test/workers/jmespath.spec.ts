import { expect } from 'chai';
import jmespath from 'jmespath';
import { parseExact } from '../../shared/domain/json/exact-numbers.ts';
import type { Json } from '../../shared/domain/types.ts';
import { search } from '../../workers/select/jmespath/search.ts';

const PAGE = {
    page: { tags: [1, 2, { c: 'x', d: null }], 'e-f': true },
    items: [
        { id: 3, name: 'b', tags: ['x', 'y'], price: { amount: 1 } },
        { id: 1, name: 'a', tags: [], price: null },
        { id: 2, name: 'c', tags: ['z'], price: { amount: 3 } },
    ],
    numbers: [3, 1, 2],
    texts: ['b', 'a', 'C'],
    nested: [[1, [2]], [3], 4],
    byKey: { k1: { v: 1 }, k2: { v: 2 }, k3: 5 },
    empty: {},
    none: null,
    no: false,
    zero: 0,
    text: 'hello',
};

const VALUES = [
    ...['page', 'page.tags[0]', 'page.tags[-1]', 'page."e-f"', 'items', 'items[5]', 'numbers', 'texts', 'nested', 'byKey', 'empty', 'none'],
    ...['no', 'zero', 'text', 'missing', '@', '`1`', '`"x"`', "'raw'", '`[1,2]`', '`{"k":1}`', '`null`', '`word`'],
    ...['items[*].id', 'items[].name', 'items[].tags[]', 'byKey.*', 'byKey.*.v', 'items[?id > `1`].name', "items[?name=='a']"],
    ...['items[?price].price.amount', 'items[?!price]', 'nested[]', 'nested[][]', 'nested[*][0]', 'items[1:]', 'items[::-1].id'],
    ...['numbers[:2]', 'numbers[-2:]', 'numbers[10:]', 'numbers[::2]', 'numbers[-1:0:-1]', '{x: page, y: items[0].id}', '[text, zero]'],
    ...['items[].{i: id, a: price.amount}', 'items[].[id, name]', 'items | [0]', 'items[*].tags | [0]'],
];

const AROUND = [
    ...['length(X)', 'keys(X)', 'values(X)', 'type(X)', 'to_string(X)', 'to_number(X)', 'to_array(X)', 'not_null(none, X)', 'abs(X)'],
    ...['ceil(X)', 'floor(X)', 'sum(X)', 'avg(X)', 'max(X)', 'min(X)', 'sort(X)', 'reverse(X)', 'sort_by(X, &id)', 'sort_by(X, &name)'],
    ...['max_by(X, &id)', 'min_by(X, &id)', 'map(&id, X)', "contains(X, 'x')", 'contains(X, `1`)', "starts_with(X, 'h')"],
    ...["ends_with(X, 'o')", "join(',', X)", 'merge(X, `{"z":1}`)', 'length(X, X)', 'unknown(X)', '!X', 'X[0]', 'X[]', 'X[*].id', 'X.*'],
    ...['X | length(@)', 'X && text', 'X || text', 'X.missing', 'X[?@ > `1`]', 'X[:2]', 'X[::0]', 'X.{a: @}', 'X.[@]'],
];

const BETWEEN = ['==', '!=', '<', '<=', '>', '>=', '||', '&&'];

/** The result as text; an error is a text, too. */
function resultOf(run: () => unknown): string {
    try {
        return JSON.stringify(run() ?? null);
    } catch {
        return 'an error';
    }
}

describe('JMESPath over a site’s answer', () => {
    it('agrees with the library that parses it', () => {
        const around = VALUES.flatMap((value) => [value, ...AROUND.map((one) => one.replaceAll('X', value))]);
        const between = VALUES.flatMap((left) => VALUES.flatMap((right) => BETWEEN.map((sign) => `${left} ${sign} ${right}`)));
        for (const expression of [...around, ...between]) {
            const expected = resultOf(() => jmespath.search(PAGE, expression));
            expect(
                resultOf(() => search(PAGE, expression)),
                expression,
            ).to.equal(expected);
        }
    });

    it('orders numbers by size, and texts by any key', () => {
        expect(search([10, 9, 1], 'sort(@)')).to.deep.equal([1, 9, 10]);
        expect(search(PAGE, 'max_by(items, &name).id')).to.equal(2);
        expect(search(PAGE, 'min_by(items, &name).id')).to.equal(1);
    });

    it('finds nothing that the site did not send', () => {
        for (const name of ['constructor', 'toString', 'items.length', 'text.length', '"__proto__"']) {
            expect(search(PAGE, name), name).to.equal(null);
        }
    });

    it('keeps digits in literals of every kind', () => {
        const page = parseExact('{"id":9007199254740993,"map":{"ids":[9007199254740993]}}') as Json;
        for (const [expression, expected] of [
            ['id == `9007199254740993`', 'true'],
            ['id == `9007199254740992`', 'false'],
            ['map == `{"ids":[9007199254740993]}`', 'true'],
            ['map == `{"ids":[9007199254740992]}`', 'false'],
            ["'`9007199254740993`'", '"`9007199254740993`"'],
            ['`9007199254740993`', '9007199254740993'],
            ['[`0.1000000000000000055`, `1e400`]', '[0.1000000000000000055,1e400]'],
            ['sum([id, `-9007199254740993`])', '0'],
            ['sum(`[9007199254740991, 2]`)', '9007199254740993'],
            ['sum(`[9007199254740992, 1, -9007199254740992]`)', '1'],
            ['sum(`[0.5, 9007199254740993]`)', '9007199254740992'],
        ] as const) {
            expect(JSON.stringify(search(page, expression)), expression).to.equal(expected);
        }
    });

    it('reads numbers in texts, and none in an empty text', () => {
        const texts = ['7', ' 7 ', '+7', '.5', '007', '1e3', '', ' ', '0x10', '1,5', '7 EUR'];
        expect(search(texts, 'map(&to_number(@), @)')).to.deep.equal([7, 7, 7, 0.5, 7, 1000, null, null, null, null, null]);
    });

    it('gives fields any name', () => {
        expect(JSON.stringify(search(1, '{"__proto__": @}'))).to.equal('{"__proto__":1}');
    });

    it('keeps the exponent of a number whose sign it removes', () => {
        for (const [expression, expected] of [
            ['abs(`1.2345678901234567e-05`)', '1.2345678901234567e-05'],
            ['abs(`-1.2345678901234567e-05`)', '1.2345678901234567e-05'],
            ['abs(`-9007199254740993`)', '9007199254740993'],
        ] as const) {
            expect(JSON.stringify(search(null, expression)), expression).to.equal(expected);
        }
    });

    it('fails where a function finds no number that JSON can hold', () => {
        const page = parseExact('{"most":1e400,"all":[1e400,-1e400]}') as Json;
        for (const name of ['sum(all)', 'avg(all)', 'sum([most])', 'avg([most])', 'floor(most)', 'ceil(most)', 'map(&floor(@), all)']) {
            expect(() => search(page, name), name).to.throw('no number that JSON can hold');
        }
        expect(search(page, "to_number('Infinity')")).to.equal(null);
        expect(JSON.stringify(search(page, "[to_number('1e400'), max(all), to_number(' 7 ')]"))).to.equal('[1e400,1e400,7]');
    });

    it('takes a text of a literal as it is, whatever its characters', () => {
        for (const literal of ['\\u0001x', '\\u00015']) {
            for (const more of ['', ', 9007199254740993', ', 1e400']) {
                const expression = `\`["${literal}"${more}]\`[0]`;
                expect(search(null, expression), expression).to.equal(JSON.parse(`"${literal}"`));
            }
        }
        expect(search(null, "'\u00015'")).to.equal('\u00015');
    });

    it('compares decimals with all their zeros by size', () => {
        const page = parseExact('{"rate":1.50000000000000000,"text":"1.5","id":9007199254740993}') as Json;
        for (const [expression, expected] of [
            ['rate == `1.5`', true],
            ['`1.5` == rate', true],
            ['rate != `1.5`', false],
            ['rate == `1.25`', false],
            ['rate == text', false],
            ['text == rate', false],
            ['id == `1.5`', false],
            ['contains(`[1.5]`, rate)', true],
        ] as const) {
            expect(search(page, expression), expression).to.equal(expected);
        }
    });

    it('reads lists with more items than a call may have arguments', () => {
        const many = Array.from({ length: 300_000 }, (_, place) => place);
        expect(search(many, 'max(@)')).to.equal(299_999);
        expect(search([many, many], 'length([])')).to.equal(600_000);
    });
});
