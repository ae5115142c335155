import { expect } from 'chai';
import fc from 'fast-check';
import { openPatternWork } from '../../shared/domain/json-schema/patterns.ts';
import { judgeSimply } from '../../shared/domain/json-schema/simple.ts';
import { checkJsonSchema, compileJsonSchema } from '../../shared/domain/json-schema.ts';
import type { Json, JsonSchema } from '../../shared/domain/types.ts';

const codes = (schema: unknown, options = {}) => checkJsonSchema(schema, options).map(({ path, code }) => `${path} ${code}`);
const fits = (schema: JsonSchema, value: unknown) => {
    expect(checkJsonSchema(schema)).to.deep.equal([]);
    return compileJsonSchema(schema)(value).ok;
};
const errors = (schema: JsonSchema, value: unknown) => {
    const verdict = compileJsonSchema(schema)(value);
    return verdict.ok ? [] : verdict.errors;
};

describe('schemas of values', () => {
    it('judge by JSON Schema 2020-12', () => {
        expect(fits(true, 1)).to.equal(true);
        expect(fits(false, 1)).to.equal(false);
        expect(fits({ type: 'integer' }, '2')).to.equal(false);
        expect(fits({ type: 'integer' }, 2.0)).to.equal(true);
        expect(fits({ prefixItems: [{ type: 'string' }], items: false }, ['a', 1])).to.equal(false);
        expect(fits({ dependentRequired: { a: ['b'] } }, { a: 1 })).to.equal(false);
        expect(fits({ allOf: [{ properties: { a: true } }], unevaluatedProperties: false }, { a: 1, b: 2 })).to.equal(false);
        expect(fits(JSON.parse('{"if":{"type":"string"},"then":{"minLength":2},"else":{"type":"number"}}'), 'a')).to.equal(false);
        expect(fits({ const: { a: [1] } }, { a: [1] })).to.equal(true);
    });

    it('check the formats that can be checked and take the others for notes', () => {
        expect(fits({ format: 'date' }, '2026-02-30')).to.equal(false);
        expect(fits({ format: 'email' }, 'a@example.com')).to.equal(true);
        expect(fits({ format: 'uuid' }, 'x')).to.equal(false);
        expect(fits({ format: 'colour' }, 'x')).to.equal(true);
        expect(fits({ format: 'uri' }, `https://example.com/${'a'.repeat(3000)}`)).to.equal(false);
    });

    it('put references in their place, by pointer and by anchor, beside other keywords', () => {
        const schema = {
            $defs: { price: { type: 'number', minimum: 0 }, 'a/b': { $anchor: 'name', type: 'string' } },
            properties: { price: { $ref: '#/$defs/price', maximum: 10 }, slash: { $ref: '#/$defs/a~1b' }, name: { $ref: '#name' } },
        };
        expect(fits(schema, { price: 5, slash: 'x', name: 'y' })).to.equal(true);
        expect(fits(schema, { price: -1 })).to.equal(false);
        expect(fits(schema, { price: 11 })).to.equal(false);
        expect(fits(schema, { slash: 1 })).to.equal(false);
        expect(fits(schema, { name: 1 })).to.equal(false);
    });

    it('do not mistake what every object inherits for a property', () => {
        expect(fits({ required: ['constructor'] }, {})).to.equal(false);
        expect(fits({ properties: { toString: { type: 'string' } } }, {})).to.equal(true);
    });

    it('tell patterns apart', () => {
        const schema = { properties: { a: { pattern: '^a$' }, b: { pattern: '^b$' } }, patternProperties: { '^x-': { type: 'string' } } };
        expect(fits(schema, { a: 'a', b: 'b', 'x-c': 'c' })).to.equal(true);
        expect(fits(schema, { a: 'b' })).to.equal(false);
        expect(fits(schema, { b: 'a' })).to.equal(false);
        expect(fits(schema, { 'x-c': 1 })).to.equal(false);
    });

    it('read patterns as JavaScript writes them', () => {
        expect(fits({ pattern: '^[\\u4e00-\\u9fff]+$' }, '中文')).to.equal(true);
        expect(fits({ pattern: '^\\d{4}-\\d{2}$' }, '2026-11')).to.equal(true);
        expect(fits({ pattern: '^(?<year>\\d+)\\/x$' }, '7/x')).to.equal(true);
        expect(fits({ pattern: '^.$' }, '😀')).to.equal(true);
        expect(fits({ pattern: 'b' }, 'abc')).to.equal(true);
    });

    it('end on texts that make other engines run for years', () => {
        const text = 'a'.repeat(100_000);
        for (const pattern of [
            '^(a+)+$',
            '^(a|aa)+$',
            '(.*)(.*)(.*)(.*)(.*)[^a]$',
            '^(([a-z])+.)+[A-Z]([a-z])+$',
            '(?:a?){500}[bc]$',
            '(x+x+)+y',
        ]) {
            fits({ pattern }, `${text}!`);
            fits({ patternProperties: { [pattern]: false } }, { [text]: 1 });
        }
    });

    it('say where a value is wrong, and stop there', () => {
        const schema = {
            required: ['a'],
            properties: { a: { type: 'integer' }, b: { items: { type: 'string' } } },
            additionalProperties: false,
        };
        expect(errors(schema, {})).to.deep.equal([{ path: '', keyword: 'required', message: "must have required property 'a'" }]);
        expect(errors(schema, { a: 1, b: ['x', 2] })).to.deep.equal([{ path: '/b/1', keyword: 'type', message: 'must be string' }]);
        expect(errors(schema, { a: 1, 'c/d': 2 })).to.deep.equal([
            { path: '/c~1d', keyword: 'additionalProperties', message: 'is not a property of this object' },
        ]);
        expect(errors({ items: { anyOf: Array.from({ length: 50 }, (_, i) => ({ const: i })) } }, ['x', 'y', 'z'])).to.have.length(10);
    });

    it('leave out keywords that only the validator knows', () => {
        expect(fits({ $async: true, type: 'string' }, 1)).to.equal(false);
        expect(fits({ type: 'string', nullable: true }, null)).to.equal(false);
        expect(fits({ id: 'x', $comment: 5, discriminator: {}, nullable: true, 'x-note': [], contentSchema: 7 }, null)).to.equal(true);
        expect(fits({ $id: 'https://example.com/one', type: 'string' }, 'a')).to.equal(true);
        expect(fits({ $id: 'https://example.com/one', type: 'number' }, 1)).to.equal(true);
    });

    it('are not compiled unless they were found sound', () => {
        expect(() => compileJsonSchema({ type: 'nope' })).to.throw(TypeError);
        expect(() => compileJsonSchema({ $ref: '#/nowhere' })).to.throw(TypeError);
    });
});

describe('the check of a schema', () => {
    it('names every fault at its pointer', () => {
        expect(codes({ type: 'x', minimum: '1', properties: { 'a/b': { pattern: '(' } }, required: 'a' }, { at: '/here' })).to.have.members(
            [
                '/here/type INVALID_VALUE',
                '/here/minimum INVALID_TYPE',
                '/here/properties/a~1b/pattern INVALID_VALUE',
                '/here/required INVALID_TYPE',
            ],
        );
    });

    it('refuses every way for a schema to reach itself', () => {
        const recursive = [
            { properties: { a: { $ref: '#' } } },
            { $defs: { a: { items: { $ref: '#/$defs/a' } } }, $ref: '#/$defs/a' },
            { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' },
            { properties: { a: { properties: { b: { $ref: '#/properties/a' } } } } },
            { $anchor: 'top', items: { $ref: '#top' } },
            { items: { $ref: '#/items' } },
        ];
        for (const schema of recursive)
            expect(
                codes(schema).map((fault) => fault.split(' ')[1]),
                JSON.stringify(schema),
            ).to.deep.equal(['TOO_COMPLEX']);
    });

    it('takes eight levels and a thousand schemas, and no more', () => {
        const levels = (count: number): Json => (count === 0 ? true : { items: levels(count - 1) });
        expect(codes(levels(8))).to.deep.equal([]);
        expect(codes(levels(9))).to.deep.equal([`${'/items'.repeat(9)} TOO_COMPLEX`]);
        const wide = (count: number) => ({ anyOf: Array.from({ length: count }, (_, i) => ({ const: i })) });
        expect(codes(wide(999))).to.deep.equal([]);
        expect(codes(wide(1000))).to.deep.equal([' TOO_COMPLEX']);
    });

    it('refuses schemas that would grow without end, at once', () => {
        const $defs: Record<string, Json> = { d0: { type: 'string' } };
        for (let i = 1; i <= 60; i++) $defs[`d${i}`] = { anyOf: [{ $ref: `#/$defs/d${i - 1}` }, { $ref: `#/$defs/d${i - 1}` }] };
        expect(codes({ $defs, $ref: '#/$defs/d60' }).map((fault) => fault.split(' ')[1])).to.deep.equal(['TOO_COMPLEX']);
        let deep: Json = true;
        for (let i = 0; i < 50_000; i++) deep = { not: deep };
        expect(codes(deep).map((fault) => fault.split(' ')[1])).to.deep.equal(['TOO_COMPLEX']);
    });

    it('says why a pattern is refused, and repeats none of it', () => {
        const faults = (pattern: string) => checkJsonSchema({ pattern }).map(({ code, message }) => `${code} ${message}`);
        for (const [pattern, why] of [
            ['^[a-z]{1,1001}$', /counts go .* up to 1,000/],
            ['(?:a{100}){100}', /counts go .* up to 1,000/],
            ['a{2,1}', /from the lesser to the greater/],
            ['^\\p{Letter}+$', /short names .* \\p\{L\}/],
            ['[\\p{Script=Greek}]', /short names .* \\p\{Greek\}/],
            ['a(?=b)', /without look-around/],
            ['(?<!a)b', /without look-around/],
            ['(a)\\1', /has a back-reference/],
            ['[z-a]', /not valid here: invalid character class range/],
            ['hunter2(', /not valid here: missing closing \)/],
        ] satisfies [string, RegExp][]) {
            expect(faults(pattern), pattern).to.have.length(1);
            expect(faults(pattern)[0], pattern)
                .to.match(why)
                .and.match(/^INVALID_VALUE The pattern .*\.$/);
            expect(faults(pattern)[0], pattern).not.to.include('hunter2');
        }
        expect(faults('^\\p{Lu}\\p{Greek}$')).to.deep.equal([]);
    });

    it('lets a param compare plain values and a response anything', () => {
        const plain = [
            { uniqueItems: true, items: { type: 'string' } },
            { uniqueItems: true, items: { type: ['integer', 'null'] } },
            { contains: { type: 'string', pattern: 'a' } },
            { contains: { const: 3 } },
            { uniqueItems: true, items: { enum: ['red', 1, null] } },
            { uniqueItems: true, items: { const: 'red' } },
            { uniqueItems: true, items: { type: ['string', 'array'], enum: ['red', 'blue'] } },
            { uniqueItems: true, items: { anyOf: [{ type: 'string' }, { enum: [1, 2] }] } },
            { uniqueItems: true, items: { oneOf: [{ const: 1 }, { const: 2 }] } },
            { uniqueItems: true, items: { $ref: '#/$defs/colour' }, $defs: { colour: { enum: ['red', 'blue'] } } },
            { contains: { $ref: '#/$defs/any' }, $defs: { any: { anyOf: [{ $ref: '#/$defs/one' }] }, one: { type: 'integer' } } },
            { uniqueItems: false },
        ];
        for (const schema of plain) expect(codes(schema, { forParam: true })).to.deep.equal([]);
        const costly = [
            { uniqueItems: true },
            { uniqueItems: true, items: true },
            { uniqueItems: true, items: { type: ['string', 'array'] } },
            { uniqueItems: true, items: { type: 'string' }, prefixItems: [{ type: 'object' }] },
            { contains: { properties: { a: { const: 1 } } } },
            { contains: { const: { a: 1 } } },
            { uniqueItems: true, items: { enum: ['red', { a: 1 }] } },
            { uniqueItems: true, items: { anyOf: [{ type: 'string' }, { type: 'object' }] } },
            { uniqueItems: true, items: { $ref: '#/$defs/thing' }, $defs: { thing: { properties: {} } } },
            { items: { uniqueItems: true, items: {} } },
        ];
        for (const schema of costly) {
            expect(codes(schema, { forParam: true }).map((fault) => fault.split(' ')[1])).to.deep.equal(['TOO_COMPLEX']);
            expect(codes(schema)).to.deep.equal([]);
        }
    });

    it('refuses plain values that only a circle of references promises, once each', () => {
        const circle = {
            uniqueItems: true,
            items: { $ref: '#/$defs/a' },
            $defs: { a: { $ref: '#/$defs/b' }, b: { anyOf: [{ $ref: '#/$defs/a' }] } },
        };
        expect(codes(circle, { forParam: true })).to.deep.equal(['/uniqueItems TOO_COMPLEX']);
        const $defs: Record<string, Json> = { d0: { type: 'string' } };
        for (let i = 1; i <= 500; i++) $defs[`d${i}`] = { anyOf: [{ $ref: `#/$defs/d${i - 1}` }, { $ref: `#/$defs/d${i - 1}` }] };
        expect(codes({ $defs, uniqueItems: true, items: { $ref: '#/$defs/d500' } }, { forParam: true })).to.have.length(1);
    });

    it('tells plain values apart in one pass, however the schema says that they are plain', () => {
        const many = Array.from({ length: 120_000 }, (_, i) => i);
        for (const items of [{ const: 3 }, { enum: [1, 'a'] }, { anyOf: [{ type: 'number' }, { type: 'null' }] }, { $ref: '#/$defs/n' }]) {
            const judge = compileJsonSchema({ type: 'array', uniqueItems: true, items, $defs: { n: { type: 'number' } } });
            const fits = judge(many).ok;
            expect(fits, JSON.stringify(items)).to.equal('anyOf' in items || '$ref' in items);
            expect(judge([3, 3]).ok, JSON.stringify(items)).to.equal(false);
        }
        const colours = compileJsonSchema({ uniqueItems: true, items: { enum: ['1', 1, null, 'null', true] } });
        expect(colours(['1', 1, null, 'null', true])).to.deep.equal({ ok: true });
        expect(colours(['1', 1, '1']).ok).to.equal(false);
        expect(colours([2]).ok).to.equal(false);
    });

    it('never lets a schema through that cannot be compiled, and never throws', () => {
        const keyword = fc.constantFrom(
            'type',
            'enum',
            'const',
            'items',
            'prefixItems',
            'properties',
            'required',
            'pattern',
            'patternProperties',
            'allOf',
            'not',
            'if',
            '$ref',
            '$defs',
            '$anchor',
            '$id',
            '$schema',
            'minimum',
            'multipleOf',
            'maxLength',
            'format',
            'contains',
            'minContains',
            'dependentRequired',
            'dependentSchemas',
            'unevaluatedProperties',
            'unevaluatedItems',
            '$async',
            'nullable',
            'id',
            'discriminator',
            '$data',
            'default',
            '__proto__',
            'constructor',
            'x',
        );
        const { schema } = fc.letrec((tie) => ({
            schema: fc.oneof(
                { depthSize: 'small' },
                fc.boolean(),
                fc.array(fc.tuple(keyword, tie('value')), { maxLength: 5 }).map((entries) => Object.fromEntries(entries)),
            ),
            value: fc.oneof(
                { depthSize: 'small' },
                tie('schema'),
                fc.array(tie('schema'), { maxLength: 3 }),
                fc.dictionary(fc.constantFrom('a', 'b', '^x', '(', '__proto__'), tie('schema') as fc.Arbitrary<unknown>, { maxKeys: 3 }),
                fc.constantFrom(
                    'string',
                    'object',
                    'array',
                    '#',
                    '#/$defs/a',
                    '#a',
                    '^a',
                    '(',
                    'date',
                    1,
                    0,
                    -1,
                    true,
                    null,
                    [],
                    ['a'],
                    ['string', 'null'],
                ),
            ),
        }));
        let compiled = 0;
        fc.assert(
            fc.property(schema, fc.jsonValue({ maxDepth: 3 }), (candidate, value) => {
                if (checkJsonSchema(candidate).length > 0) return;
                compiled++;
                compileJsonSchema(candidate as JsonSchema)(value);
            }),
            { numRuns: 1000 },
        );
        expect(compiled).to.be.greaterThan(100);
    });

    it('judges simple schemas without compiling as the compiled ones do', () => {
        const bound = fc.integer({ min: 0, max: 4 });
        const leaf = fc.record(
            {
                type: fc.constantFrom('string', 'integer', 'number', 'boolean', 'null', 'array', 'object', ['string', 'null']),
                enum: fc.array(fc.constantFrom(1, 'a', null, true), { minLength: 1, maxLength: 3 }),
                const: fc.constantFrom(1, 'a', null, false),
                minimum: bound,
                exclusiveMaximum: bound,
                minLength: bound,
                maxLength: bound,
                pattern: fc.constantFrom('^a', 'b$', '😀'),
                minItems: bound,
                maxItems: bound,
                description: fc.constant('x'),
            },
            { requiredKeys: [] },
        );
        const simple = fc.tuple(leaf, fc.option(leaf)).map(([outer, items]) => (items === null ? outer : { ...outer, items }));
        const value = fc.oneof(
            fc.constantFrom<Json>(null, true, 0, 1, 2, 2.5, '', 'a', 'ab', '😀', '😀😀b', {}),
            fc.array(fc.constantFrom<Json>(1, 'a', 'ab', null), { maxLength: 4 }),
        );
        fc.assert(
            fc.property(simple, value, (candidate, sample) => {
                const sound = candidate as JsonSchema;
                expect(judgeSimply(sound, sample)).to.equal(compileJsonSchema(sound)(sample).ok);
            }),
            { numRuns: 500 },
        );
        expect(judgeSimply({ format: 'date' }, 'x')).to.equal(undefined);
        expect(judgeSimply({ items: { $ref: '#/$defs/a' }, $defs: { a: {} } }, [])).to.equal(undefined);
    });

    it('let patterns spend no more than a share of work, whatever pattern meets whatever text', () => {
        // Hardly compressible: each character may begin another match, and the engine has to follow all of them.
        const text = Array.from({ length: 20_000 }, (_, place) => ((place * place * 7919) % 10_007 < 5000 ? 'a' : 'b')).join('');
        const allOf = [600, 601, 602].map((count) => ({ not: { pattern: `a[ab]{${count}}[^ab]` } }));
        expect(codes({ allOf }, { forParam: true })).to.deep.equal([]);
        const work = openPatternWork();
        expect(compileJsonSchema({ allOf })(text, work)).to.deep.equal({
            ok: false,
            errors: [{ path: '', message: 'takes too much work to hold against the patterns', keyword: 'pattern' }],
        });
        expect(compileJsonSchema({ pattern: '^[A-Za-z0-9+/]*={0,2}$' })('A'.repeat(60_000), openPatternWork())).to.deep.equal({ ok: true });
    });
});
