import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import fc from 'fast-check';
import { exportOpenApi } from '../../shared/domain/package/openapi-export.ts';
import { exportTools } from '../../shared/domain/package/tool-export.ts';
import type { Json, PackageDocument } from '../../shared/domain/types.ts';
import { STARTERS } from '../starter/packages.ts';
import { anyPackage } from '../support/any-package.ts';
import { patienceFor } from '../support/eventually.ts';
import { endpoint, onePackage, pathParam } from './one-package.ts';

describe('a package as tool definitions', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false, addUsedSchema: false });

    it('has a tool for each endpoint, with a name that models accept and an input that is a valid JSON Schema by itself', () => {
        const check = (document: PackageDocument) => {
            const tools = exportTools(document);
            expect(tools.map(({ name }) => name)).to.deep.equal(document.endpoints.map(({ name }) => name));
            expect(new Set(tools.map(({ name }) => name)).size).to.equal(tools.length);
            for (const { name, description, input_schema: input } of tools) {
                expect(name).to.match(/^[a-z][a-z0-9_]{0,63}$/);
                expect(description.length).to.be.within(1, 1024);
                expect(description.isWellFormed()).to.equal(true);
                expect(input['type']).to.equal('object');
                expect(ajv.validateSchema(input), JSON.stringify(input)).to.equal(true);
                expect(refsIn(input), JSON.stringify(input)).to.deep.equal([]);
            }
        };
        for (const { document } of STARTERS) check(document);
        fc.assert(fc.property(anyPackage(), check), { numRuns: 50 });
    });

    it('accepts the params of every documented call, and refuses those that a call would refuse', () => {
        for (const { document, fixture } of STARTERS) {
            const tools = new Map(exportTools(document).map((tool) => [tool.name, tool]));
            for (const { endpoint: name, params } of fixture.answers) {
                const input = tools.get(name)?.input_schema ?? {};
                const check = ajv.compile(input);
                expect(check(params), `${document.site} ${name} ${JSON.stringify(check.errors)}`).to.equal(true);
                expect(check({ ...params, unknown_param: 1 }), `${document.site} ${name}`).to.equal(false);
                for (const required of (input['required'] as string[] | undefined) ?? [])
                    expect(check({ ...params, [required]: undefined }), `${document.site} ${name} without ${required}`).to.equal(false);
            }
        }
    });

    it('describes a file', () => {
        const photo = { name: 'photo', source: 'body', required: true, schema: { format: 'file' } } as const;
        const [tool] = exportTools(onePackage(endpoint('upload', '/', { method: 'POST', body_format: 'multipart', params: [photo] })));
        const check = ajv.compile(tool?.input_schema ?? {});
        expect(check({ photo: { filename: 'a.png', content_type: 'image/png', base64: 'AAAA' } })).to.equal(true);
        expect(check({ photo: { filename: 'a.png', base64: 'AAAA' } })).to.equal(false);
        expect(check({ photo: 'AAAA' })).to.equal(false);
    });

    it('names the site, its effect, and whether it is hosted', () => {
        const [order, search, listed] = exportTools(
            onePackage(
                endpoint('order', '/order', { method: 'POST', description: ' Orders it. ' }),
                endpoint('search_things', '/search', { hosted: false }),
                endpoint('long', '/', { description: 'x😀'.repeat(2000) }),
            ),
        );
        expect(order?.description).to.equal('Shop (shop.example.com): Orders it. Changes something on shop.example.com.');
        expect(search?.description).to.equal(
            'Shop (shop.example.com): search things. Cannot be called through hosted fetch: build the request from the catalog.',
        );
        expect(listed?.description).to.have.length.within(1000, 1024);
        expect(listed?.description.endsWith('…')).to.equal(true);
    });

    it('expands references without changing the meaning of a schema', () => {
        const schema = {
            $defs: {
                word: { $anchor: 'w', type: 'string', minLength: 2, description: 'A word.' },
                pair: { type: 'array', items: { $ref: '#w' } },
            },
            type: 'object',
            properties: { one: { $ref: '#/$defs/word' }, two: { $ref: '#/$defs/pair', maxItems: 2 }, 'a/b~c': true, never: false },
            additionalProperties: false,
        };
        const params = [
            { name: 'filter', source: 'body' as const, required: true, schema, description: 'What to look for.', example: { one: 'ab' } },
        ];
        const [tool] = exportTools(onePackage(endpoint('find', '/', { method: 'POST', params })));
        expect(tool?.input_schema['properties']).to.deep.equal({
            filter: {
                type: 'object',
                properties: {
                    one: { type: 'string', minLength: 2, description: 'A word.' },
                    two: {
                        maxItems: 2,
                        allOf: [{ type: 'array', items: { type: 'string', minLength: 2, description: 'A word.' } }],
                    },
                    'a/b~c': {},
                    never: { not: {} },
                },
                additionalProperties: false,
                description: 'What to look for.',
                examples: [{ one: 'ab' }],
            },
        });
    });
});

describe('an export', () => {
    it('stays small and fast whatever a package repeats by references and placeholders', () => {
        const choices = { enum: Array.from({ length: 1000 }, (_, index) => `choice ${index} ${'x'.repeat(80)}`) };
        const schema = {
            $defs: { all: choices },
            properties: Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`p${index}`, { $ref: '#/$defs/all' }])),
        };
        const large = endpoint('large', '/', {
            method: 'POST',
            params: [{ name: 'all', source: 'body', required: true, schema }],
            body: { list: Array.from({ length: 20_000 }, () => '{all}') },
        });
        const repeated = endpoint('repeated', `/${'{id}/'.repeat(400)}`, { params: [pathParam('id', choices)] });
        const document = onePackage(large, ...Array.from({ length: 20 }, (_, index) => ({ ...repeated, name: `repeated_${index}` })));
        const began = performance.now();
        for (const made of [exportOpenApi(document, { version: 1, versionHash: '', publishedAt: new Date(0) }), exportTools(document)])
            expect(JSON.stringify(made).length).to.be.below(16 * 1024 * 1024);
        expect(performance.now() - began).to.be.below(patienceFor(5000));
    });
});

/** Pointers of `$ref` keywords, but not of properties with that name. */
function refsIn(schema: Json, isSchema = true): string[] {
    if (typeof schema !== 'object' || schema === null) return [];
    if (Array.isArray(schema)) return schema.flatMap((item) => refsIn(item));
    return Object.entries(schema).flatMap(([key, value]) => {
        if (isSchema && key === '$ref') return [String(value)];
        if (key === 'const' || key === 'enum' || key === 'default' || key === 'examples') return [];
        return refsIn(value, !(isSchema && /^(properties|patternProperties|dependentSchemas)$/.test(key)));
    });
}
