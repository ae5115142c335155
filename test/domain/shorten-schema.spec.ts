import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { checkBySchema } from '../../shared/domain/json/schema/interpret.ts';
import { shortenSchema } from '../../shared/domain/json/schema/shorten.ts';
import { checkJsonSchema } from '../../shared/domain/json/schema.ts';
import type { Json, JsonSchema, PackageDocument } from '../../shared/domain/types.ts';

const bytes = (schema: JsonSchema) => Buffer.byteLength(JSON.stringify(schema));
const starter = readdirSync('schemas')
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => (JSON.parse(readFileSync(`schemas/${name}`, 'utf8')) as PackageDocument).endpoints ?? [])
    .flatMap(({ response }) => (response?.schema === undefined ? [] : [response.schema]));

describe('a schema that is shortened', () => {
    const order: JsonSchema = {
        type: 'object',
        required: ['items'],
        properties: {
            items: { type: 'array', items: { type: 'object', properties: { title: { type: 'string' }, price: { type: 'number' } } } },
        },
    };

    it('stays unchanged if it fits', () => {
        expect(shortenSchema(order, 4096)).to.deep.equal({ schema: order, isShortened: false });
    });

    it('loses its deepest levels first, and no more than needed', () => {
        const { schema, isShortened } = shortenSchema(order, bytes(order) - 1);
        expect(isShortened).to.equal(true);
        expect(schema).to.deep.equal({
            type: 'object',
            required: ['items'],
            properties: { items: { type: 'array', items: { type: 'object', properties: { title: {}, price: {} } } } },
        });
        expect(shortenSchema(order, 80).schema).to.deep.equal({ type: 'object', required: ['items'], properties: { items: {} } });
        expect(shortenSchema(order, 10).schema).to.deep.equal({});
    });

    it('never exceeds the limit and remains valid, for all responses of the starter registry', () => {
        expect(starter).to.have.length.above(100);
        for (const schema of starter) {
            for (const most of [64, 256, 1024]) {
                const { schema: shortened } = shortenSchema(schema, most);
                expect(bytes(shortened)).to.be.at.most(most);
                expect(checkJsonSchema(shortened)).to.deep.equal([]);
            }
        }
    });

    const text = (length: number): JsonSchema => ({ type: 'string', description: 'x'.repeat(length) });
    const cases: [string, JsonSchema, Json][] = [
        ['one of several schemas', { type: 'object', properties: { a: { oneOf: [text(90), { type: 'number' }] } } }, { a: 1 }],
        ['what must not be', { properties: { a: { not: { type: 'object', properties: { b: text(90) }, required: ['b'] } } } }, { a: 1 }],
        ['a condition', JSON.parse(`{"properties":{"a":{"if":{"const":"${'y'.repeat(90)}"},"then":false}}}`) as JsonSchema, { a: 'z' }],
        ['what nothing else has looked at', { allOf: [{ properties: { a: text(90) } }], unevaluatedProperties: false }, { a: 'z' }],
        [
            'a reference to a level that went',
            { properties: { a: { $ref: '#/properties/b/items' }, b: { items: text(90) } } },
            { a: 'z', b: ['z'] },
        ],
    ];
    for (const [what, schema, value] of cases) {
        it(`accepts what the complete one accepts: ${what}`, () => {
            expect(checkBySchema(schema, value)).to.equal(true);
            for (let maxBytes = bytes(schema) - 1; maxBytes > 2; maxBytes -= 5) {
                const { schema: shortened } = shortenSchema(schema, maxBytes);
                expect(checkJsonSchema(shortened), JSON.stringify(shortened)).to.deep.equal([]);
                expect(checkBySchema(shortened, value), JSON.stringify(shortened)).to.equal(true);
            }
        });
    }
});
