import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import fc from 'fast-check';
import { checkBySchema, explainBySchema, validateBySchema } from '../../shared/domain/json/schema/interpret.ts';
import { createPatternWork, TooMuchWork, withinWork } from '../../shared/domain/json/schema/patterns.ts';
import { isSimple } from '../../shared/domain/json/schema/simple.ts';
import { checkJsonSchema } from '../../shared/domain/json/schema.ts';
import type { Json, JsonObject, JsonSchema } from '../../shared/domain/types.ts';
import { compileJsonSchema } from '../support/compile-json-schema.ts';
import { SLOW_ELSEWHERE } from '../support/patterns.ts';

/** The linter treats an object with this key as a promise. */
const THEN: string = 'then';

const codes = (schema: unknown, options = {}) => checkJsonSchema(schema, options).map(({ path, code }) => `${path} ${code}`);
const fits = (schema: JsonSchema, value: Json) => {
    expect(checkJsonSchema(schema)).to.deep.equal([]);
    return checkBySchema(schema, value);
};
const errors = (schema: JsonSchema, value: Json) => {
    const verdict = validateBySchema(schema, value);
    return verdict.ok ? [] : verdict.errors;
};

describe('schemas of values', () => {
    it('check by JSON Schema 2020-12', () => {
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

    it('divide decimals by all their digits', () => {
        const of = (step: number, ...values: number[]) => values.map((value) => fits({ multipleOf: step }, value));
        expect(of(0.01, 19.99, 4.35, 0.07, 0, -1.1, 1e300)).to.not.include(false);
        expect(of(0.01, 19.995, 1e-7, -0.001)).to.not.include(true);
        expect(of(0.3, 0.9, 1e300)).to.deep.equal([true, false]);
        expect(of(1e-8, 1e-7, 1e-9)).to.deep.equal([true, false]);
    });

    it('validate known formats and ignore others', () => {
        expect(fits({ format: 'date' }, '2026-02-30')).to.equal(false);
        expect(fits({ format: 'email' }, 'a@example.com')).to.equal(true);
        expect(fits({ format: 'uuid' }, 'x')).to.equal(false);
        expect(fits({ format: 'colour' }, 'x')).to.equal(true);
        expect(fits({ format: 'uri' }, `https://example.com/${'a'.repeat(3000)}`)).to.equal(false);
    });

    it('resolve references, by pointer and by anchor, beside other keywords', () => {
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

    it('ignore inherited properties of objects', () => {
        expect(fits({ required: ['constructor'] }, {})).to.equal(false);
        expect(fits({ properties: { toString: { type: 'string' } } }, {})).to.equal(true);
    });

    it('distinguish patterns', () => {
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
        for (const pattern of SLOW_ELSEWHERE) {
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
        expect(errors(schema, { a: 1, b: ['x', 2] })).to.deep.equal([{ path: '/b/1', keyword: 'type', message: 'must be a string' }]);
        expect(errors(schema, { a: 1, 'c/d': 2 })).to.deep.equal([
            { path: '/c~1d', keyword: 'additionalProperties', message: 'is not a property of this object' },
        ]);
        expect(errors({ items: { anyOf: Array.from({ length: 50 }, (_, i) => ({ const: i })) } }, ['x', 'y', 'z'])).to.have.length(10);
    });

    it('of answers are stored no longer than their copies, one of which comes with each page', () => {
        setFlagsFromString('--expose-gc');
        const collect = runInNewContext('gc') as () => void;
        const copies = Array.from({ length: 20 }, (_, at) => new WeakRef({ type: 'object', description: `copy ${at}` }));
        for (const copy of copies) expect(validateBySchema(copy.deref() as JsonObject, {})).to.deep.equal({ ok: true });
        return new Promise((resolve) => setImmediate(resolve)).then(() => {
            collect();
            // The stack may still name one.
            expect(copies.filter((copy) => copy.deref() !== undefined)).to.have.length.below(3);
        });
    });

    it('ignore keywords that only other validators know', () => {
        expect(fits({ $async: true, type: 'string' }, 1)).to.equal(false);
        expect(fits({ type: 'string', nullable: true }, null)).to.equal(false);
        expect(fits({ id: 'x', $comment: 5, discriminator: {}, nullable: true, 'x-note': [], contentSchema: 7 }, null)).to.equal(true);
        expect(fits({ $id: 'https://example.com/one', type: 'string' }, 'a')).to.equal(true);
        expect(fits({ $id: 'https://example.com/one', type: 'number' }, 1)).to.equal(true);
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

    it('refuses every form of recursion in a schema', () => {
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

    it('allows eight levels and a thousand schemas, and no more', () => {
        const levels = (count: number): Json => (count === 0 ? true : { items: levels(count - 1) });
        expect(codes(levels(8))).to.deep.equal([]);
        expect(codes(levels(9))).to.deep.equal([`${'/items'.repeat(9)} TOO_COMPLEX`]);
        const wide = (count: number) => ({ anyOf: Array.from({ length: count }, (_, i) => ({ const: i })) });
        expect(codes(wide(999))).to.deep.equal([]);
        expect(codes(wide(1000))).to.deep.equal([' TOO_COMPLEX']);
    });

    it('refuses schemas with exponential expansion, at once', () => {
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
            ['^[a-z]{1,1001}$', /counts must .* at most 1,000/],
            ['(?:a{100}){100}', /counts must .* at most 1,000/],
            ['a{2,1}', /counts must ascend/],
            ['^\\p{Letter}+$', /short names .* \\p\{L\}/],
            ['[\\p{Script=Greek}]', /short names .* \\p\{Greek\}/],
            ['a(?=b)', /has a look-around/],
            ['(?<!a)b', /has a look-around/],
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

    it('allows plain values in a param and anything in a response', () => {
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

    it('refuses values that only a circle of references defines, once each', () => {
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

    it('recognises plain values in one pass, however the schema is written', () => {
        const many = Array.from({ length: 120_000 }, (_, i) => i);
        for (const items of [{ const: 3 }, { enum: [1, 'a'] }, { anyOf: [{ type: 'number' }, { type: 'null' }] }, { $ref: '#/$defs/n' }]) {
            const schema = { type: 'array', uniqueItems: true, items, $defs: { n: { type: 'number' } } };
            expect(fits(schema, many), JSON.stringify(items)).to.equal('anyOf' in items || '$ref' in items);
            expect(fits(schema, [3, 3]), JSON.stringify(items)).to.equal(false);
        }
        const colours = { uniqueItems: true, items: { enum: ['1', 1, null, 'null', true] } };
        expect(fits(colours, ['1', 1, null, 'null', true])).to.equal(true);
        expect(fits(colours, ['1', 1, '1'])).to.equal(false);
        expect(fits(colours, [2])).to.equal(false);
    });

    it('never accepts a schema that cannot be used, and never throws', () => {
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
                fc.dictionary(fc.constantFrom('a', 'b', '^x', '(', '__proto__'), tie('schema') as fc.Arbitrary<unknown>, {
                    maxKeys: 3,
                    noNullPrototype: true,
                }),
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
        let accepted = 0;
        fc.assert(
            fc.property(schema, fc.jsonValue({ maxDepth: 3 }), (candidate, value) => {
                if (checkJsonSchema(candidate).length > 0) return;
                accepted++;
                validateBySchema(candidate as JsonSchema, value as Json);
            }),
            { numRuns: 1000 },
        );
        expect(accepted).to.be.greaterThan(100);
    });

    it('gives the same results as Ajv', () => {
        let fitting = 0;
        let checked = 0;
        fc.assert(
            fc.property(fc.integer(), (seed) => {
                const random = openRandom(seed);
                const own = randomSchema(random, 2);
                const candidate =
                    typeof own === 'boolean' ? own : { ...own, $defs: { one: { type: 'object' }, two: randomSchema(random, 0) } };
                if (checkJsonSchema(candidate).length > 0) return;
                const compiled = compileJsonSchema(candidate);
                for (let count = 0; count < 8; count++) {
                    const value = randomValue(random, 3);
                    const ok = orBroken(() => compiled(value).ok);
                    if (ok === undefined) continue;
                    expect(checkBySchema(candidate, value), JSON.stringify([candidate, value])).to.equal(ok);
                    checked++;
                    if (ok) fitting++;
                    else expect(explainBySchema(candidate, value)).to.have.length.within(1, 10);
                }
            }),
            { numRuns: 800, seed: 7, endOnFailure: true },
        );
        expect([fitting, checked - fitting].every((count) => count > 300)).to.equal(true);
    });

    it('handles unevaluated properties and items, through every keyword that evaluates the same value', () => {
        const rest = { unevaluatedProperties: false };
        const a = { properties: { a: true } };
        const cases: [JsonSchema, Json, boolean][] = [
            [{ ...rest, allOf: [a] }, { a: 1 }, true],
            [{ ...rest, allOf: [a] }, { a: 1, b: 1 }, false],
            [{ ...rest, anyOf: [a, { required: ['b'], properties: { b: true } }] }, { a: 1, b: 1 }, true],
            [{ ...rest, anyOf: [a, { required: ['c'], properties: { b: true } }] }, { a: 1, b: 1 }, false],
            [{ ...rest, oneOf: [{ ...a, required: ['a'] }, { required: ['b'] }] }, { a: 1 }, true],
            [{ ...rest, not: { ...a, required: ['c'] } }, { a: 1 }, false],
            [{ ...rest, if: { ...a, required: ['a'] }, [THEN]: { properties: { b: true } } }, { a: 1, b: 1 }, true],
            [{ ...rest, if: { ...a, required: ['c'] }, else: { properties: { b: true } } }, { a: 1, b: 1 }, false],
            [{ ...rest, dependentSchemas: { a: { properties: { a: true, b: true } } } }, { a: 1, b: 1 }, true],
            [{ ...rest, patternProperties: { '^a': true } }, { ab: 1 }, true],
            [{ ...rest, $ref: '#/$defs/a', $defs: { a } }, { a: 1 }, true],
            [{ properties: { inner: { ...rest, ...a } } }, { inner: { b: 1 } }, false],
            [{ allOf: [{ ...rest, ...a }], properties: { b: true } }, { a: 1, b: 1 }, false],
            [{ unevaluatedProperties: { type: 'string' }, ...a }, { a: 1, b: 'x' }, true],
            [{ unevaluatedItems: false, prefixItems: [true] }, [1], true],
            [{ unevaluatedItems: false, prefixItems: [true] }, [1, 2], false],
            [{ unevaluatedItems: false, allOf: [{ prefixItems: [true] }, { contains: { const: 2 } }] }, [1, 2], true],
            [{ unevaluatedItems: { type: 'string' }, prefixItems: [true] }, [1, 2], false],
        ];
        for (const [schema, value, expected] of cases) {
            expect(checkJsonSchema(schema)).to.deep.equal([]);
            expect(checkBySchema(schema, value), JSON.stringify([schema, value])).to.equal(expected);
        }
    });

    it('finds errors at the same places as Ajv', () => {
        const cases: [JsonSchema, Json][] = [
            [{ type: ['string', 'null'] }, 1],
            [{ type: 'integer', minimum: 1 }, 0],
            [{ exclusiveMaximum: 3 }, 3],
            [{ multipleOf: 2 }, 3],
            [{ maxLength: 1 }, 'ab'],
            [{ pattern: '^a' }, 'b'],
            [{ format: 'date' }, 'b'],
            [{ enum: ['a'] }, 'b'],
            [{ const: 1 }, 2],
            [{ items: { type: 'string' } }, ['a', 1]],
            [{ minItems: 1 }, []],
            [{ uniqueItems: true, items: { type: 'string' } }, ['a', 'a']],
            [{ contains: { const: 1 }, maxContains: 1 }, [1, 1]],
            [{ contains: { const: 1 }, minContains: 2, maxContains: 1 }, []],
            [{ required: ['a'] }, {}],
            [{ properties: { 'a/b': { type: 'string' } } }, { 'a/b': 1 }],
            [{ additionalProperties: false }, { a: 1 }],
            [
                { properties: { a: true }, unevaluatedProperties: false },
                { a: 1, b: 1 },
            ],
            [{ prefixItems: [true], unevaluatedItems: false }, [1, 2]],
            [{ propertyNames: { maxLength: 1 } }, { ab: 1 }],
            [{ dependentRequired: { a: ['b'] } }, { a: 1 }],
            [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 1],
            [{ oneOf: [{ type: 'string' }, { maxLength: 3 }] }, 'a'],
            [{ not: { type: 'string' } }, 'a'],
            [{ if: { type: 'string' }, [THEN]: { minLength: 2 } }, 'a'],
        ];
        for (const [schema, value] of cases) {
            const verdict = compileJsonSchema(schema)(value);
            const places = (errors: { path: string; keyword: string }[]) => errors.map(({ path, keyword }) => ({ path, keyword }));
            expect(places(explainBySchema(schema, value)), JSON.stringify(schema)).to.deep.equal(verdict.ok ? [] : places(verdict.errors));
        }
    });

    it('have errors that say in words what fits', () => {
        const words: [JsonSchema, Json, string][] = [
            [{ type: 'integer' }, 'one', 'must be an integer'],
            [{ type: ['array', 'null'] }, 1, 'must be a list or null'],
            [{ maximum: 3 }, 4, 'must be at most 3'],
            [{ exclusiveMinimum: 0 }, 0, 'must be more than 0'],
            [{ minLength: 1 }, '', 'must have at least 1 character'],
            [{ maxItems: 2 }, [1, 2, 3], 'must have at most 2 items'],
            [{ format: 'date' }, 'tomorrow', 'must be a date such as 2026-12-31'],
            [{ format: 'ipv4' }, 'here', 'must have the format "ipv4"'],
            [{ enum: ['new', 'old'] }, 'young', 'must be one of "new", "old"'],
            [{ enum: [...'abcdefghijklmn'] }, 'z', `must be one of ${[...'abcdefghijkl'].map((one) => `"${one}"`).join(', ')} and 2 more`],
            [{ const: 'x'.repeat(60) }, 1, `must be "${'x'.repeat(38)}…`],
        ];
        for (const [schema, value, message] of words)
            expect(explainBySchema(schema, value).map((one) => one.message)).to.deep.equal([message]);
    });

    it('print the values of an enum or a constant once, not for each value that they refuse', () => {
        let printed = 0;
        const large = {
            toJSON() {
                printed += 1;
                return 'a large value';
            },
        };
        const values = Array.from({ length: 200 }, (_, at) => at);
        for (const refusing of [{ enum: [large] }, { const: large }]) {
            const schema = { items: { anyOf: [refusing, { type: 'integer' }] } } as unknown as JsonSchema;
            printed = 0;
            expect(checkBySchema(schema, values)).to.equal(true);
            expect(validateBySchema(schema, values).ok).to.equal(true);
            expect(printed).to.be.lessThan(5);
        }
    });

    it('are simple if they contain only types, plain enums, limits, patterns and items of such', () => {
        expect(isSimple({ type: 'array', items: { enum: ['a'], pattern: 'b' }, maxItems: 3 })).to.equal(true);
        expect(isSimple({ format: 'date' })).to.equal(false);
        expect(isSimple({ items: { $ref: '#/$defs/a' }, $defs: { a: {} } })).to.equal(false);
    });

    it('limit the time of patterns, whatever the pattern and the text', () => {
        // Hardly compressible: each character may start another match, and the engine must follow all of them.
        const text = Array.from({ length: 20_000 }, (_, place) => ((place * place * 7919) % 10_007 < 5000 ? 'a' : 'b')).join('');
        const allOf = [600, 601, 602].map((count) => ({ not: { pattern: `a[ab]{${count}}[^ab]` } }));
        expect(codes({ allOf }, { forParam: true })).to.deep.equal([]);
        expect(() => withinWork(createPatternWork(), () => checkBySchema({ allOf }, text))).to.throw(TooMuchWork);
        const base64 = { pattern: '^[A-Za-z0-9+/]*={0,2}$' };
        expect(withinWork(createPatternWork(), () => checkBySchema(base64, 'A'.repeat(60_000)))).to.equal(true);
    });
});

/** Ajv throws for some schemas, since it reads evaluated properties before they exist. */
function orBroken(check: () => boolean): boolean | undefined {
    try {
        return check();
    } catch (error) {
        if (error instanceof TypeError) return undefined;
        throw error;
    }
}

type Random = (below: number) => number;

/** A xorshift generator: equal seeds give equal numbers. */
function openRandom(seed: number): Random {
    let state = seed | 1;
    return (below) => {
        state ^= state << 13;
        state ^= state >>> 17;
        state ^= state << 5;
        return (state >>> 0) % below;
    };
}

const WORDS = ['a', 'b', 'ab', 'c'];
const PLAIN_VALUES: readonly Json[] = [null, true, 0, 1, 2, 2.5, '', 'a', 'ab', '😀', '😀😀b', '2026-01-31'];

function pick<T>(random: Random, from: readonly T[]): T {
    return from[random(from.length)] as T;
}

function randomValue(random: Random, depth: number): Json {
    const sort = depth === 0 ? 0 : random(4);
    const many = random(4);
    if (sort === 1) return Array.from({ length: many }, () => randomValue(random, depth - 1));
    if (sort > 1) return Object.fromEntries(Array.from({ length: many }, () => [pick(random, WORDS), randomValue(random, depth - 1)]));
    return pick(random, PLAIN_VALUES);
}

/** A schema of a few keywords. With many of them hardly any value is valid. */
function randomSchema(random: Random, depth: number): JsonSchema {
    if (random(10) === 0) return random(3) > 0;
    const inner = () => randomSchema(random, depth - 1);
    const some = () => Array.from({ length: 1 + random(3) }, inner);
    const named = (names: readonly string[]) => Object.fromEntries(Array.from({ length: random(3) }, () => [pick(random, names), inner()]));
    const words = () => [...new Set(Array.from({ length: random(3) }, () => pick(random, WORDS)))];
    const plain: Record<string, () => Json> = {
        type: () =>
            pick<Json>(random, [
                'string',
                'integer',
                'number',
                'boolean',
                'null',
                'array',
                'object',
                ['string', 'object'],
                ['array', 'object'],
            ]),
        enum: () => Array.from({ length: 1 + random(4) }, () => randomValue(random, 2)),
        const: () => randomValue(random, 1),
        multipleOf: () => pick(random, [1, 0.5, 2]),
        pattern: () => pick(random, ['^a', 'b$', '😀']),
        format: () => pick(random, ['date', 'int32', 'unknown']),
        uniqueItems: () => random(2) > 0,
        required: words,
        dependentRequired: () => ({ [pick(random, WORDS)]: words() }),
        $ref: () => pick(random, ['#/$defs/one', '#/$defs/two']),
    };
    for (const bound of ['minimum', 'exclusiveMaximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'])
        plain[bound] = () => random(4);
    const nested: Record<string, () => Json> = {};
    for (const name of ['items', 'additionalProperties', 'propertyNames', 'not', 'contains']) nested[name] = inner;
    for (const name of ['allOf', 'anyOf', 'oneOf', 'prefixItems']) nested[name] = some;
    for (const name of ['properties', 'dependentSchemas']) nested[name] = () => named(WORDS);
    nested['patternProperties'] = () => named(['^a', 'b$']);
    const rules = Object.entries(depth === 0 ? plain : { ...plain, ...nested, ...nested });
    const chosen = Array.from({ length: 1 + random(3) }, () => pick(random, rules));
    const schema: JsonObject = Object.fromEntries(chosen.map(([name, make]) => [name, make()]));
    // Never a minimum above the maximum: ajv lets an empty list pass then.
    if (Object.hasOwn(schema, 'contains')) {
        const minContains = random(3);
        Object.assign(schema, { minContains, maxContains: Math.max(1, minContains) + random(2) });
    }
    if (depth > 0 && random(6) === 0) Object.assign(schema, { if: inner(), [THEN]: inner(), else: inner() });
    return schema;
}
