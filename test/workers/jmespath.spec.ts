import { expect } from 'chai';
import { parseExact } from '../../shared/domain/json/exact-numbers.ts';
import type { Json } from '../../shared/domain/types.ts';
import { search } from '../../workers/select/jmespath/search.ts';

const SHOP = {
    items: [
        { id: 3, name: 'b', tags: ['x', 'y'], price: { amount: 1 } },
        { id: 1, name: 'a', tags: [], price: null },
        { id: 2, name: 'c', tags: ['z'], price: { amount: 30 } },
        { id: 4, name: 'd', tags: ['x'], price: { amount: '5' } },
        { id: 5, name: 'e' },
    ],
    shelves: { front: { stock: { left: 1 } }, back: { stock: { left: 2 } }, cellar: 5 },
    nested: [[1, [2]], [3], 4],
    'quo"ted': { 'a.b': 1 },
    zero: 0,
    no: false,
    yes: true,
    blank: '',
    none: null,
};

/** What the specification says, by its chapters. */
const RESULTS: Readonly<Record<string, [expression: string, expected: Json][]>> = {
    'orders two numbers or two texts': [
        ['items[?price.amount < `10`].id', [3]],
        ['items[?price.amount >= `1`].id', [3, 2]],
        ['items[?price.amount != `1`].id', [1, 2, 4, 5]],
        ["'2026-09-30' < '2026-10-01'", true],
        ["'b' <= 'a'", false],
        ["'a' < none", null],
        ['none <= none', null],
        ['yes > no', null],
        ["'10' > `9`", null],
        ['items > items', null],
        ['!(none < `1`)', true],
        ['`1` < `2`', true],
    ],
    'binds | less than ||, || less than &&, && less than a comparison, and that less than !': [
        ['yes || no && no', true],
        ['(yes || no) && no', false],
        ['no && no || yes', true],
        ['!no && yes', true],
        ['!(no && yes)', true],
        ['!!yes', true],
        ['!items[0]', false],
        ['zero == `0` && yes', true],
        ['yes == no || yes', true],
        ['none || items[0] | name', 'b'],
        ['missing || blank || none', null],
        ['yes && blank', ''],
    ],
    'projects what follows onto each item, until a pipe, brackets or a flattening': [
        ['items[*].tags[0]', ['x', 'z', 'x']],
        ['items[*].tags | [0]', ['x', 'y']],
        ['(items[*].tags)[0]', ['x', 'y']],
        ['items[].tags[]', ['x', 'y', 'z', 'x']],
        ['items[].tags[] | [0]', 'x'],
        ["items[?price].tags[?@ == 'x']", [['x'], [], ['x']]],
        ['shelves.*.stock.left', [1, 2]],
        ['*.*.stock.left', [[1, 2], []]],
        ['items[:2].id', [3, 1]],
        ['items[:2] | [0].id', 3],
        ['nested[]', [1, [2], 3, 4]],
        ['nested[][]', [1, 2, 3, 4]],
        ['nested[*][0]', [1, 3]],
        ['zero[*]', null],
        ['items.*', null],
    ],
    'slices lists': [
        ['items[::2].id', [3, 2, 5]],
        ['items[-2:].id', [4, 5]],
        ['items[::-1].id', [5, 4, 2, 1, 3]],
        ['items[3:1:-1].id', [4, 2]],
        ['items[-99:99].id', [3, 1, 2, 4, 5]],
        ['blank[0:1]', null],
    ],
    'reads names in quotes, raw texts and literals': [
        ['"quo\\"ted"."a.b"', 1],
        ['"\\u0069tems"[0].id', 3],
        ["'it\\'s \\n'", "it's \\n"],
        ["'\\\\'", '\\\\'],
        ['`"a\\`b\\n"`', 'a`b\n'],
        ['` {"a": [1, 2.5]} `.a', [1, 2.5]],
        ['`bare text`', 'bare text'],
    ],
    'makes lists and objects, of what is there': [
        ['items[0].{i: id, "the name": name}', { i: 3, 'the name': 'b' }],
        ['items[0].[id, missing]', [3, null]],
        ['none.{i: id}', null],
        ['none.[id]', null],
        ['items[0].[tags[*]]', [['x', 'y']]],
    ],
    'counts and orders texts by code points': [
        ["length('a😀')", 2],
        ["reverse('a😀b')", 'b😀a'],
        ["sort(['\uffee', '😀', 'b', 'a', 'B'])", ['B', 'a', 'b', '\uffee', '😀']],
        ["max(['z', 'é', 'a'])", 'é'],
        ["min(['a', 'B'])", 'B'],
        ["max(['\uffee', '😀'])", '😀'],
        ["sort(['ab', 'a', ''])", ['', 'a', 'ab']],
    ],
    'takes any expression as an argument': [
        ['items[0].tags | length(@[0])', 1],
        ['length(items[?price])', 3],
        ['length(@.items)', 5],
        ['map(&(tags[0] || `"-"`), items)', ['x', '-', 'z', 'x', '-']],
        ['sort_by(items, &name)[-1].id', 5],
        ['sort_by(items, &length(name)) | [0].id', 3],
        ['max_by(items, &id).name', 'e'],
        ['not_null(none, missing, blank)', ''],
        ['not_null(none)', null],
        ['map(&missing, items)', [null, null, null, null, null]],
    ],
    'converts and compares values of every type': [
        [
            "[to_string('a'), to_string(`1.5`), to_string(`[1, null]`), to_string(none), to_string(yes)]",
            ['a', '1.5', '[1,null]', 'null', 'true'],
        ],
        [
            "[to_number('1e2'), to_number(`7`), to_number(yes), to_number('x'), to_number(none), to_number(items)]",
            [100, 7, null, null, null, null],
        ],
        ["contains('a1', `1`)", false],
        ["contains('a1', '1')", true],
        ['contains(items[*].id, `3`)', true],
        ['shelves.front == `{"stock": {"left": 1}}`', true],
        ['nested == `[[1, [2]], [3], 4]`', true],
        ['zero == no', false],
        ['type(none)', 'null'],
    ],
};

/** What a function does not take. */
const WRONG_TYPES = [
    ...['abs(blank)', 'sum(items)', 'avg(none)', 'length(zero)', 'length(missing)', 'keys(items)', 'reverse(none)', 'sort(nested)'],
    ...['sort(`[1, "a"]`)', 'max(`["a", 1]`)', "join(', ', items)", 'merge(shelves, none)', "starts_with('a', none)", 'map(&id, none)'],
    ...['sort_by(items, &price.amount)', 'sort_by(items, &tags)', 'max_by(items, &missing)'],
];

describe('JMESPath over a site’s answer', () => {
    for (const [what, rows] of Object.entries(RESULTS)) {
        it(what, () => {
            for (const [expression, expected] of rows) expect(search(SHOP, expression), expression).to.deep.equal(expected);
        });
    }

    it('fails if a function gets an argument of a wrong type', () => {
        for (const expression of WRONG_TYPES) expect(() => search(SHOP, expression), expression).to.throw(/(is of|has) the type/);
    });

    it('orders numbers by size, and texts by any key', () => {
        expect(search([10, 9, 1], 'sort(@)')).to.deep.equal([1, 9, 10]);
        expect(search(SHOP, 'max_by(items, &name).id')).to.equal(5);
        expect(search(SHOP, 'min_by(items, &name).id')).to.equal(1);
    });

    it('finds nothing that the site did not send', () => {
        for (const name of ['constructor', 'toString', 'items.length', 'text.length', '"__proto__"']) {
            expect(search(SHOP, name), name).to.equal(null);
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

    it('rounds and adds numbers that no double holds', () => {
        for (const [expression, expected] of [
            ['floor(`9007199254740993.5`)', '9007199254740993'],
            ['ceil(`9007199254740993.5`)', '9007199254740994'],
            ['floor(`-9007199254740993.5`)', '-9007199254740994'],
            ['ceil(`-9007199254740993.5`)', '-9007199254740993'],
            ['floor(`0.99999999999999999999`)', '0'],
            ['sum(`[12345678901234567.0, 1]`)', '12345678901234568'],
        ] as const) {
            expect(JSON.stringify(search(null, expression)), expression).to.equal(expected);
        }
    });

    it('takes a list of expressions behind a projection', () => {
        const value = { items: [{ id: 1, name: 'a' }], byId: { one: { id: 1 } } };
        for (const expression of ['items[*][id, name]', 'items[][id, name]', 'items[?id][id, name]', 'items[0:][id, name]'])
            expect(search(value, expression), expression).to.deep.equal([[1, 'a']]);
        expect(search(value, 'byId.*[id]')).to.deep.equal([[1]]);
    });

    it('reads no number in a long text of digits that ends with a letter', () => {
        // A pattern that tries each length of the digits takes minutes.
        expect(search([`0${'1'.repeat(500_000)}x`, '1.', '1.x', '01.50'], 'map(&to_number(@), @)')).to.deep.equal([null, 1, null, 1.5]);
    });

    it('compares numbers with exponents of any number of digits, the largest as if they were equal', () => {
        const page = parseExact(
            `{"long":1e${'7'.repeat(100_000)},"large":1e${'7'.repeat(20)},"tiny":1e-${'7'.repeat(20)},"two":2e${'7'.repeat(20)}}`,
        );
        for (const [expression, expected] of [
            ['long == large', true],
            ['long > `1e400`', true],
            ['two > long', true],
            ['tiny > `0`', true],
            ['tiny < `1e-400`', true],
            ['`1e0000000000000000000401` == `10e400`', true],
        ] as const) {
            expect(search(page, expression), expression).to.equal(expected);
        }
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

    it('keeps the text of a literal unchanged, whatever its characters', () => {
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

    it('compares numbers by all their digits, however they are written', () => {
        const page = parseExact(
            '{"a":0.12345678901234567890,"b":12345678901234567890e-20,"c":0.12345678901234567891,"most":1e400,"same":10.0e399,"long":9007199254740993.0,"zero":0e400}',
        ) as Json;
        for (const [expression, expected] of [
            ['a == b', true],
            ['a == c', false],
            ['a < c', true],
            ['a >= c', false],
            ['most == same', true],
            ['most > `1e399`', true],
            ['`-1e400` < `-1e399`', true],
            ['long == `9007199254740993`', true],
            ['long > `9007199254740992`', true],
            ['zero == `0`', true],
            ['zero < `1e-400`', true],
            ['contains([b], a)', true],
            ['{x: [a]} == {x: [b]}', true],
            ['`1.0` == `1.00`', true],
            ['`1e2` == `100`', true],
            ['sort([c, a])[0] == a', true],
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
