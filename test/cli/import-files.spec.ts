import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { CannotImport, type Imported, importDocument, readDocument } from '../../cli/import/import.ts';
import { faultsOf, requestFor } from './import/requests.ts';

describe('routebook import, of files', () => {
    let folder: string;

    beforeEach(() => {
        folder = mkdtempSync(join(tmpdir(), 'routebook-import-'));
    });

    afterEach(() => {
        rmSync(folder, { recursive: true });
    });

    const put = (name: string, content: object | string): string => {
        const path = join(folder, name);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
        return path;
    };
    const imported = async (name: string, content: object | string): Promise<Imported> =>
        importDocument(await readDocument(put(name, content)));
    const failure = async (content: object | string): Promise<string> => {
        try {
            await imported('bad.json', content);
        } catch (error) {
            if (error instanceof CannotImport) return error.message;
            throw error;
        }
        throw new Error('it was imported');
    };

    describe('Swagger 2.0', () => {
        const swagger = {
            swagger: '2.0',
            info: { title: 'Pets', version: '1' },
            host: 'api.pets.example',
            basePath: '/v1',
            schemes: ['https'],
            produces: ['application/json'],
            parameters: {
                Pet: { name: 'pet', in: 'body', required: true, schema: { $ref: '#/definitions/Pet' } },
                Limit: { name: 'limit', in: 'query', type: 'integer', maximum: 50, default: 10 },
            },
            definitions: {
                Pet: { type: 'object', required: ['name'], properties: { name: { type: 'string' }, age: { type: 'integer' } } },
            },
            paths: {
                '/pets': {
                    parameters: [{ $ref: '#/parameters/Limit' }],
                    get: {
                        operationId: 'listPets',
                        parameters: [
                            { name: 'tags', in: 'query', type: 'array', items: { type: 'string' } },
                            { name: 'ids', in: 'query', type: 'array', items: { type: 'integer' }, collectionFormat: 'multi' },
                        ],
                        responses: { 200: { description: '', schema: { type: 'array', items: { $ref: '#/definitions/Pet' } } } },
                    },
                    post: { operationId: 'addPet', parameters: [{ $ref: '#/parameters/Pet' }], responses: { 201: { description: '' } } },
                },
                '/pets/{id}/photo': {
                    post: {
                        operationId: 'addPhoto',
                        parameters: [
                            { name: 'id', in: 'path', required: true, type: 'integer' },
                            { name: 'photo', in: 'formData', type: 'file', required: true },
                            { name: 'note', in: 'formData', type: 'string' },
                        ],
                        responses: { 200: { description: '' } },
                    },
                },
                '/search': {
                    post: {
                        operationId: 'search',
                        parameters: [
                            { name: 'words', in: 'formData', type: 'string', required: true },
                            { name: 'kinds', in: 'formData', type: 'array', items: { type: 'string' } },
                        ],
                        responses: { 200: { description: '' } },
                    },
                },
            },
        };

        it('is imported like OpenAPI 3: bodies, forms, files, shared parameters and lists', async () => {
            const { package: made, counts } = await imported('pets.json', swagger);
            expect(counts).to.deep.equal({ operations: 4, carried: 4, notCarried: 0 });
            expect(faultsOf(made)).to.deep.equal([]);
            expect(made.site).to.equal('pets.example');
            expect(requestFor(made, 'list_pets', { tags: ['a', 'b'], ids: [1, 2] }).url).to.equal(
                'https://api.pets.example/v1/pets?limit=10&tags=a,b&ids=1&ids=2',
            );
            expect(requestFor(made, 'add_pet', { name: 'Rex' })).to.deep.include({ method: 'POST', body: { name: 'Rex' } });
            const sent = requestFor(made, 'add_photo', { id: 7, photo: { filename: 'a.png', content_type: 'image/png', base64: 'AAAA' } });
            expect(sent.type).to.match(/^multipart\/form-data/);
            expect(() => requestFor(made, 'add_photo', { id: 7 }), 'without a file that it requires').to.throw(/photo/);
            expect(() => requestFor(made, 'search', { kinds: ['x'] }), 'without words that it requires').to.throw(/words/);
            expect(requestFor(made, 'search', { words: 'a b', kinds: ['x', 'y'] })).to.deep.include({
                body: 'words=a+b&kinds=x,y',
                type: 'application/x-www-form-urlencoded',
            });
        });

        it('is imported from YAML, even if some of it is broken', async () => {
            const { counts, notCarried } = await imported(
                'pets.yaml',
                [
                    'swagger: 2.0',
                    'host: pets.example',
                    'consumes: none',
                    'parameters: 7',
                    'paths:',
                    '  /a: {parameters: x, get: {parameters: [{name: q}, 3, {in: query, name: b, type: string}], responses: {}}}',
                    '  /b: {post: {parameters: {in: body}, responses: null}, put: 5}',
                    '  /c: null',
                    '  /d: {get: {responses: {200: null, 404: x}}}',
                    '  /e: [null]',
                    'securityDefinitions: [null]',
                ].join('\n'),
            );
            expect(counts).to.deep.equal({ operations: 4, carried: 3, notCarried: 1 });
            expect(notCarried.filter(({ scope }) => scope === 'operation')).to.deep.equal([
                { where: 'PUT /b', why: 'It is not an object.', scope: 'operation' },
            ]);
        });

        it('is imported from a host that is written as an address, and a base path without its slash', async () => {
            for (const [host, basePath, url] of [
                ['https://api.pets.example/', 'v1/', 'https://api.pets.example/v1/pets'],
                ['api.pets.example', 'v1', 'https://api.pets.example/v1/pets'],
                ['//api.pets.example/rest', '/v1', 'https://api.pets.example/rest/v1/pets'],
                ['api.pets.example', undefined, 'https://api.pets.example/pets'],
            ]) {
                const paths = { pets: { GET: { operationId: 'pets', responses: {} } } };
                const found = await imported('pets.json', { swagger: '2.0', schemes: ['https'], host, basePath, paths });
                expect(found.package.endpoints[0]?.url ?? found.notCarried[0]?.why, host).to.equal(url);
            }
        });

        it('adds the examples of parameters to params and to the example of the endpoint', async () => {
            const id = { name: 'id', in: 'path', type: 'integer', required: true, 'x-example': 7 };
            const found = await imported('pets.json', {
                ...swagger,
                paths: { '/pets/{id}': { get: { operationId: 'pet', parameters: [id], responses: {} } } },
            });
            const [endpoint] = found.package.endpoints;
            expect(endpoint?.params?.[0]).to.include({ name: 'id', example: 7 });
            expect(endpoint?.examples).to.deep.equal([{ params: { id: 7 } }]);
        });
    });

    describe('in a folder', () => {
        const main = {
            openapi: '3.1.0',
            info: { title: 'Pets', version: '1' },
            servers: [{ url: 'https://api.pets.example' }],
            paths: {
                '/pets': { $ref: './paths/pets.yaml' },
                '/pets/{id}': {
                    get: {
                        operationId: 'pet',
                        parameters: [{ $ref: 'common.json#/params/Id' }],
                        responses: { 200: { description: '', content: { 'application/json': { schema: { $ref: 'schemas/pet.json' } } } } },
                    },
                },
            },
            components: { schemas: { Name: { type: 'string', maxLength: 40 } } },
        };

        it('includes the files that references name, each once, and with circular ones', async () => {
            put(
                'paths/pets.yaml',
                'post:\n  operationId: addPet\n  requestBody:\n    required: true\n    content: {application/json: {schema: {$ref: ../schemas/pet.json}}}\n',
            );
            put('common.json', {
                params: { Id: { name: 'id', in: 'path', required: true, schema: { $ref: '#/types/Id' } } },
                types: { Id: { type: 'integer' } },
            });
            put('schemas/pet.json', {
                type: 'object',
                required: ['name'],
                properties: { name: { $ref: '../openapi.json#/components/schemas/Name' }, friend: { $ref: '#' } },
            });
            const { package: made, counts, notCarried } = await imported('openapi.json', main);
            expect(counts).to.deep.equal({ operations: 2, carried: 2, notCarried: 0 });
            expect(notCarried).to.deep.equal([]);
            expect(faultsOf(made)).to.deep.equal([]);
            expect(requestFor(made, 'pet', { id: 7 }).url).to.equal('https://api.pets.example/pets/7');
            expect(() => requestFor(made, 'pet', { id: 'x' })).to.throw();
            expect(requestFor(made, 'add_pet', { name: 'Rex' }).body).to.deep.equal({ name: 'Rex' });
            expect(() => requestFor(made, 'add_pet', { name: 'x'.repeat(41) })).to.throw();
        });

        it('reads nothing outside of the folder and fetches nothing, and lists what is missing', async () => {
            const outside = mkdtempSync(join(tmpdir(), 'routebook-outside-'));
            writeFileSync(join(outside, 'secret.json'), JSON.stringify({ type: 'string', description: 'SECRET' }));
            symlinkSync(join(outside, 'secret.json'), join(folder, 'linked.json'));
            const refs = ['linked.json', join(outside, 'secret.json'), '../../etc/passwd', 'https://elsewhere.example/a.json', 'none.json'];
            const parameters = refs.map((ref, at) => ({ name: `p${at}`, in: 'query', schema: { $ref: ref } }));
            const {
                counts,
                notCarried,
                package: made,
            } = await imported('openapi.json', {
                ...main,
                paths: { '/a': { get: { operationId: 'a', parameters, responses: {} } } },
            });
            rmSync(outside, { recursive: true });
            expect(counts.carried).to.equal(1);
            expect(JSON.stringify(made)).not.to.include('SECRET');
            expect(notCarried.filter(({ scope }) => scope === 'document').map(({ where }) => where)).to.have.members(
                refs.map((ref) => `$ref ${ref}`),
            );
        });

        it('names its broken file', async () => {
            put('schemas/pet.json', '{"type": ');
            put('paths/pets.yaml', 'post: {}');
            put('common.json', {});
            let message = '';
            await imported('openapi.json', main).catch((error: Error) => {
                message = error.message;
            });
            expect(message).to.match(/^schemas\/pet\.json is neither JSON nor YAML: line 1, column 10: /);
        });
    });

    describe('that are hostile', () => {
        it('get an error if a document is nested too deeply, too large, or no document', async () => {
            expect(await failure(`{"openapi":"3.1.0","paths":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`)).to.match(
                /nested more than 200 levels deep/,
            );
            expect(await failure(`{"openapi":"3.1.0","paths":[${'0,'.repeat(6_000_001)}0]}`)).to.match(/has more than 6,000,000 values/);
            expect(await failure(`openapi: 3.1.0\n${'['.repeat(50_000)}`)).to.match(/neither JSON nor YAML/);
            expect(await failure('{"swagger":"1.2","paths":{}}')).to.match(/Only OpenAPI 3.x and Swagger 2.0/);
        });

        it('are limited in what YAML aliases multiply', async () => {
            const levels = Array.from({ length: 12 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at},`.repeat(9)}]`);
            expect(await failure(`openapi: 3.1.0\na0: &a0 [x,x,x,x,x,x,x,x,x]\n${levels.join('\n')}\n`)).to.match(/neither JSON nor YAML/);
        });

        it('are followed once for references in circles, to themselves and to nothing', async () => {
            const schemas = {
                A: { $ref: '#/components/schemas/B' },
                B: { $ref: '#/components/schemas/A' },
                Tree: {
                    type: 'object',
                    properties: { left: { $ref: '#/components/schemas/Tree' }, right: { $ref: '#/components/schemas/Tree' } },
                },
                Wide: { allOf: Array.from({ length: 30 }, () => ({ $ref: '#/components/schemas/Wide' })) },
            };
            const parameters = ['A', 'Tree', 'Wide', 'None'].map((name) => ({
                name,
                in: 'query',
                schema: { $ref: `#/components/schemas/${name}` },
            }));
            const { counts } = await imported('openapi.json', {
                openapi: '3.0.3',
                servers: [{ url: 'https://a.example' }],
                components: { schemas },
                paths: {
                    '/a': {
                        post: {
                            parameters,
                            requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Wide' } } } },
                            responses: {
                                200: {
                                    description: '',
                                    content: { 'application/json': { schema: { $ref: '#/components/schemas/Tree' } } },
                                },
                            },
                        },
                    },
                    '/b': { $ref: '#/paths/~1b' },
                },
            });
            expect(counts).to.deep.equal({ operations: 1, carried: 1, notCarried: 0 });
        });
    });
});
