import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { CannotImport, type Imported, importDocument, type NotCarried, readDocument } from '../../cli/import/import.ts';
import { shortenResponses } from '../../cli/import/shorten-responses.ts';
import { inspect } from '../../cli/inspect/inspect.ts';
import { countNodes } from '../../shared/domain/json/schema/count-nodes.ts';
import { checkBySchema } from '../../shared/domain/json/schema/interpret.ts';
import { isObject } from '../../shared/domain/json/schema/structure.ts';
import { checkJsonSchema } from '../../shared/domain/json/schema.ts';
import type { Json, JsonObject, JsonSchema, PackageEndpoint } from '../../shared/domain/types.ts';
import { faultsOf, requestFor } from './import/requests.ts';

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace'];

/** Documents that public services publish, and those of two self-hosted programs, by the npm package that contains them. */
const REAL: readonly { name: string; file: string; site: string; given?: string }[] = [
    { name: 'Figma', file: '@figma/rest-api-spec/openapi/openapi.yaml', site: 'figma.com' },
    { name: 'GitBook', file: '@gitbook/api/spec/openapi.json', site: 'gitbook.com' },
    { name: 'Neon', file: '@neondatabase/api-client/public-v2-for-users.gen.yaml', site: 'neon.tech' },
    { name: 'Ideal Postcodes', file: '@ideal-postcodes/openapi/dist/openapi.json', site: 'ideal-postcodes.co.uk' },
    { name: 'Blockfrost', file: '@blockfrost/openapi/openapi.yaml', site: 'blockfrost.io' },
    { name: 'ShipEngine', file: 'shipengine-openapi/openapi.json', site: 'shipengine.com' },
    { name: 'ReadMe', file: '@readme/oas-examples/3.1/json/readme.json', site: 'readme.com' },
    { name: 'STAPI, the Star Trek API', file: '@readme/oas-examples/3.0/json/star-trek.json', site: 'stapi.co' },
    { name: 'the US patent office', file: '@readme/oas-examples/3.0/json/uspto.json', site: 'uspto.gov' },
    { name: 'Dialogporten', file: '@digdir/dialogporten-schema/swagger.verified.json', site: 'altinn-dev-api.azure-api.net' },
    { name: 'Rclone', file: 'rclone-openapi/openapi.json', site: 'files.example', given: 'files.example' },
    { name: 'Directus', file: '@directus/specs/dist/openapi.json', site: 'content.example', given: 'content.example' },
];

describe('routebook import, of OpenAPI documents', () => {
    describe('that public services publish', () => {
        for (const { name, file, site, given } of REAL) {
            it(`imports each operation of ${name} or says why not, and passes the rules of publishing`, async () => {
                const document = await readDocument(installed(file));
                const imported = importDocument(document, given === undefined ? {} : { site: given });
                const operations = operationsOf(document);
                const refused = imported.notCarried.filter(({ scope }) => scope === 'operation');
                expect(imported.counts).to.deep.equal({
                    operations: operations.length,
                    carried: imported.carried.length,
                    notCarried: refused.length,
                });
                expect([...imported.carried, ...refused].map(({ where }) => where)).to.have.members(operations);
                expect(imported.carried.map(({ name: endpoint }) => endpoint)).to.have.members(
                    imported.package.endpoints.map((endpoint) => endpoint.name),
                );
                for (const { where, why } of imported.notCarried) expect(why, where).to.match(/^[A-Z].{10,}\.$/s);
                expect(imported.package.site).to.equal(site);
                expect(faultsOf(imported.package)).to.deep.equal([]);
                expect(imported.carried.length / operations.length, JSON.stringify(refused)).to.be.at.least(0.95);
            });
        }

        it('builds the requests that the documents describe', async () => {
            const postcodes = importDocument(await readDocument(installed('@ideal-postcodes/openapi/dist/openapi.json'))).package;
            expect(requestFor(postcodes, 'postcodes', { postcode: 'SW1A 2AA', api_key: 'ak_test' })).to.deep.include({
                method: 'GET',
                url: 'https://api.ideal-postcodes.co.uk/v1/postcodes/SW1A%202AA?api_key=ak_test&page=0',
            });
            const patents = importDocument(await readDocument(installed('@readme/oas-examples/3.0/json/uspto.json'))).package;
            expect(requestFor(patents, 'perform_search', { dataset: 'oa_citations', version: 'v1', criteria: '*:*' })).to.deep.include({
                method: 'POST',
                url: 'https://developer.uspto.gov/ds-api/oa_citations/v1/records',
                // The server applies defaults. Sent with a change, they would overwrite existing data.
                body: 'criteria=*%3A*',
            });
        });
    });

    it('reads YAML and JSON alike, from inspect too', async () => {
        const found = await inspect({ openapi: installed('@figma/rest-api-spec/openapi/openapi.yaml') });
        expect(found.package).to.deep.equal(
            importDocument(await readDocument(installed('@figma/rest-api-spec/openapi/openapi.yaml'))).package,
        );
        expect(found.report.found).to.have.length(found.package.endpoints.length);
    });

    it('refuses other documents than OpenAPI 3, and says what to do', () => {
        for (const [document, message] of [
            [{ swagger: '1.2', paths: {} }, /Only OpenAPI 3.x and Swagger 2.0/],
            [{ swaggerVersion: '1.2', apis: [] }, /Only OpenAPI 3.x and Swagger 2.0/],
            [{ format: 'routebook/1', site: 'shop.example', endpoints: [] }, /a package already/],
            [{ openapi: '4.0.0' }, /Only OpenAPI 3/],
            [{ hello: 1 }, /neither an OpenAPI/],
            [[], /document is not an object/],
            ['text', /document is not an object/],
        ] as const) {
            expect(() => importDocument(document), JSON.stringify(document)).to.throw(CannotImport, message);
        }
    });

    it('reads a version that YAML parses as a number', () => {
        for (const openapi of [3, 3.1])
            expect(importDocument({ ...whole({ paths: { '/a': { get: operation('a') } } }), openapi }).counts.carried).to.equal(1);
    });

    it('uses the server of the operation, of its path, then of the document, with the defaults of its variables', () => {
        const imported = importWhole({
            servers: [
                { url: 'http://api.shop.example/v1' },
                { url: 'https://{stage}.shop.example/{base}/', variables: { stage: { default: 'api' }, base: { default: 'v2' } } },
            ],
            paths: {
                '/a': { get: operation('a') },
                '/b': {
                    servers: [{ url: 'https://files.shop.example' }],
                    get: operation('b'),
                    post: { ...operation('c'), servers: [{ url: 'https://up.shop.example' }] },
                },
                '/d': { get: { ...operation('d'), servers: [{ url: 'https://elsewhere.example' }] } },
                '/e': { get: { ...operation('e'), servers: [{ url: 'https://{unknown}.shop.example' }] } },
            },
        });
        expect(urls(imported)).to.deep.equal({
            a: 'https://api.shop.example/v2/a',
            b: 'https://files.shop.example/b',
            c: 'https://up.shop.example/b',
        });
        expect(whys(imported, 'operation')).to.deep.equal({
            'GET /d': 'The host of this URL is not on shop.example, the domain of the site; publish it under its own site.',
            'GET /e': 'A variable of the server has no default.',
        });
        expect(imported.package.site).to.equal('shop.example');
    });

    it('shortens schemas that exceed the limits of a package, and lists which', () => {
        const object = (count: number): JsonSchema => ({
            type: 'object',
            properties: Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, { type: 'string' }])),
        });
        const params = [1500, 900, 10].map((count, at) => ({
            name: `p${at}`,
            source: 'body' as const,
            required: false,
            schema: object(count),
        }));
        const read = (name: string) => ({
            where: name,
            endpoint: { name, method: 'POST' as const, url: 'https://shop.example/a', params, response: { schema: object(900) } },
        });
        const left: NotCarried[] = [];
        const [only] = shortenResponses([read('POST /a')], left);
        expect(only?.endpoint.params?.map(({ schema }) => countNodes(schema ?? true, 5000))).to.deep.equal([1, 901, 11]);
        expect(left.map(({ where, scope }) => `${scope}: ${where}`)).to.deep.equal(['part: POST /a, schema of p0']);

        const many = shortenResponses(
            Array.from({ length: 50 }, (_, at) => read(`e${at}`)),
            left,
        );
        let values = 0;
        JSON.parse(JSON.stringify(many.map((one) => one.endpoint)), (_, value: unknown) => {
            values++;
            return value;
        });
        expect(values).to.be.within(140_000, 150_000);
        expect(left.filter(({ where }) => where.endsWith('schema of the response'))).to.have.length.within(15, 25);
    });

    it('needs a site for a document without a host, and uses it in place of localhost', () => {
        const relative = { servers: [{ url: '/v1' }], paths: { '/a': { get: operation('a') } } };
        expect(whys(importWhole(relative), 'operation')).to.deep.equal({
            'GET /a': 'The server is given without a host; name the site with --site.',
        });
        expect(urls(importDocument(whole(relative), { site: 'shop.example' }))).to.deep.equal({ a: 'https://shop.example/v1/a' });
        const local = { servers: [{ url: 'http://localhost:8080/api' }], paths: { '/a': { get: operation('a') } } };
        expect(urls(importDocument(whole(local), { site: 'shop.example' }))).to.deep.equal({ a: 'https://shop.example/api/a' });
    });

    it('uses the site in place of example.com, which stands for any host', () => {
        const parts = { servers: [{ url: 'https://api.example.com/v1' }], paths: { '/a': { get: operation('a') } } };
        expect(urls(importDocument(whole(parts), { site: 'shop.dev' }))).to.deep.equal({ a: 'https://shop.dev/v1/a' });
        expect(urls(importDocument(whole(parts), { site: 'example.com' }))).to.deep.equal({ a: 'https://api.example.com/v1/a' });
    });

    it('prefers servers of the site, and those for all callers to those for trials', () => {
        const servers = [
            { url: 'https://peer.shop.zone', description: 'Development instance' },
            { url: 'https://api-sandbox.shop.dev' },
            { url: 'https://api.shop.dev', description: 'Production' },
            { url: 'https://api.shop.org' },
        ];
        const paths = { '/a': { get: operation('a') } };
        const urlFor = (site?: string, own: object[] = servers) =>
            urls(importDocument(whole({ servers: own, paths }), site === undefined ? {} : { site }))['a'];
        expect(urlFor()).to.equal('https://api.shop.dev/a');
        expect(urlFor('shop.org')).to.equal('https://api.shop.org/a');
        expect(urlFor('shop.zone')).to.equal('https://peer.shop.zone/a');
        expect(urlFor(undefined, servers.slice(0, 1))).to.equal('https://peer.shop.zone/a');
    });

    it('names a host that stands for that of a customer, and uses the site in its place', () => {
        const document = whole({ servers: [{ url: 'https://your-subdomain.shop.dev/api' }], paths: { '/a': { get: operation('a') } } });
        const why = 'A part of the host is a placeholder; name your host with --site.';
        expect(whys(importDocument(document), 'document')).to.deep.equal({ servers: why });
        expect(urls(importDocument(document, { site: 'acme.shop.dev' }))).to.deep.equal({ a: 'https://acme.shop.dev/api/a' });
    });

    it('makes a write of a GET request that changes something by its own words', () => {
        const get = (id: string, summary: string) => ({
            get: { ...operation(id), summary, parameters: [{ name: 'q', in: 'query', example: 'x', schema: { type: 'string' } }] },
        });
        const imported = importWhole({
            paths: {
                '/unlink': get('unlink', 'Deletes a file or folder.'),
                '/add': get('add', 'Add entry to history'),
                '/block': get('block', 'Block details by hash'),
                '/added': get('added', 'Address of an update'),
                '/stops': get('stops', 'Stops near a place'),
            },
        });
        const shown = imported.package.endpoints.map(({ name, kind, effect, examples }) => [name, kind, effect, examples?.length]);
        expect(shown).to.deep.equal([
            ['unlink', 'api_call', 'write', undefined],
            ['add', 'api_call', 'write', undefined],
            ['block', 'search', undefined, 1],
            ['added', 'search', undefined, 1],
            ['stops', 'search', undefined, 1],
        ]);
        expect(faultsOf(imported.package)).to.deep.equal([]);
    });

    it('leaves out descriptions that say only that an operation succeeds', () => {
        const paths = {
            '/a': { get: { ...operation('a'), summary: 'Get a pad', description: 'Success' } },
            '/b': { get: { ...operation('b'), description: 'Successful operation.' } },
        };
        const { endpoints } = importWhole({ paths }).package;
        expect(endpoints.map(({ description }) => description)).to.deep.equal(['Get a pad', undefined]);
    });

    it('reads servers without a scheme, unless they begin like a path', () => {
        const of = (url: string) =>
            urls(importDocument(whole({ servers: [{ url }], paths: { '/a': { get: operation('a') } } }), { site: 'shop.dev' }));
        expect(of('api.shop.dev/v1')).to.deep.equal({ a: 'https://api.shop.dev/v1/a' });
        expect(of('API.shop.dev')).to.deep.equal({ a: 'https://api.shop.dev/a' });
        expect(of('v1.0/api')).to.deep.equal({ a: 'https://shop.dev/v1.0/api/a' });
        expect(of('{base}/v1')).to.deep.equal({});
    });

    it('imports paths without a slash, methods in capitals and params after a colon, and loses none of them', () => {
        const id = { name: 'petId', in: 'path', required: true, schema: { type: 'integer' } };
        const imported = importWhole({
            paths: {
                pets: { GET: operation('list') },
                'pets/{petId}': { Delete: { ...operation('remove'), parameters: [id] } },
                '/pets/:petId/owners/:name': { parameters: [id], get: operation('owners') },
                '/pets:search': { post: { ...operation('find'), parameters: [id] } },
                'x-notes': { get: operation('none') },
                'https://api.shop.example/ropes': { get: operation('ropes') },
            },
        });
        expect(urls(imported)).to.deep.equal({
            list: 'https://api.shop.example/pets',
            remove: 'https://api.shop.example/pets/{petId}',
            owners: 'https://api.shop.example/pets/{petId}/owners/:name',
            find: 'https://api.shop.example/pets:search',
        });
        expect(requestFor(imported.package, 'owners', { petId: 7 }).url).to.equal('https://api.shop.example/pets/7/owners/:name');
        expect(whys(imported, 'part')).to.deep.equal({ 'POST /pets:search, petId': 'The path has no place for it.' });
        expect(whys(imported, 'document')).to.deep.equal({
            'https://api.shop.example/ropes': 'This path is a whole URL; leave out its scheme and host.',
        });
        expect(imported.counts).to.deep.equal({ operations: 4, carried: 4, notCarried: 0 });
    });

    it('imports path and query parameters as far as a package has them, and lists the others', () => {
        const param = (name: string, place: string, more: object = {}) => ({ name, in: place, schema: { type: 'string' }, ...more });
        const imported = importWhole({
            paths: {
                '/shops/{shop-id}/items/{id}': {
                    parameters: [param('shop-id', 'path', { required: true, schema: { type: 'integer' } })],
                    get: {
                        ...operation('item'),
                        parameters: [
                            param('id', 'path', { required: true }),
                            param('id', 'query'),
                            param('tags', 'query', { schema: { type: 'array', items: { type: 'string' } } }),
                            param('fields', 'query', { explode: false, schema: { type: 'array', items: { type: 'string' } } }),
                            param('ids', 'query', { style: 'pipeDelimited', schema: { type: 'array', items: { type: 'integer' } } }),
                            param('words', 'query', { style: 'spaceDelimited', schema: { type: 'array', items: { type: 'string' } } }),
                            param('expand', 'query', { style: 'deepObject', schema: { type: 'array', items: { type: 'string' } } }),
                            param('filter', 'query', { style: 'deepObject', schema: { type: 'object' } }),
                            param('created', 'query', {
                                style: 'deepObject',
                                schema: {
                                    anyOf: [
                                        { type: 'object', properties: { gte: { type: 'integer' }, deep: { type: 'object' } } },
                                        { type: 'integer' },
                                    ],
                                },
                            }),
                            param('shade', 'query', { schema: { type: 'object', properties: { r: { type: 'integer' }, limit: {} } } }),
                            param('color', 'query', { explode: false, schema: { type: 'object', properties: { g: { type: 'integer' } } } }),
                            param('limit', 'query', {
                                required: true,
                                schema: { type: 'integer', nullable: true, minimum: 1, default: 20 },
                            }),
                            param('x-trace', 'header', { description: 'Comes back in the log.' }),
                            param('x-api-key', 'header'),
                            param('User-Agent', 'header', { required: true }),
                            param('Accept', 'header', { required: true }),
                            param('fields', 'header', { schema: { type: 'string', default: 'all' } }),
                            param('sid', 'cookie'),
                        ],
                    },
                },
                '/matrix/{v}': {
                    get: {
                        ...operation('matrix'),
                        parameters: [param('v', 'path', { required: true, style: 'matrix', schema: { type: 'array', items: {} } })],
                    },
                },
                '/cars/{car-id}/{part}.json': {
                    get: {
                        ...operation('car'),
                        parameters: [
                            param('car-id', 'path', { required: true, style: 'matrix', schema: { type: 'integer' } }),
                            param('part', 'path', { required: true, style: 'label' }),
                        ],
                    },
                },
                '/boats/{\ud800}': {
                    get: { ...operation('boat'), parameters: [param('\ud800', 'path', { required: true, style: 'matrix' })] },
                },
                '/strict': {
                    get: {
                        ...operation('strict'),
                        parameters: [param('filter', 'query', { required: true, schema: { type: 'object' } })],
                    },
                },
                '/versioned': {
                    get: {
                        ...operation('versioned'),
                        parameters: [param('X-Version', 'header', { required: true, schema: { type: 'string', enum: ['2026-01'] } })],
                    },
                },
                '/page': {
                    get: {
                        ...operation('page'),
                        parameters: [
                            param('pageable', 'query', {
                                required: true,
                                schema: {
                                    type: 'object',
                                    required: ['page'],
                                    properties: {
                                        page: { type: 'integer' },
                                        sort: { type: 'array', items: { type: 'string' } },
                                    },
                                },
                            }),
                        ],
                    },
                },
                '/filtered': {
                    parameters: [param('all', 'query', { schema: { type: 'object', properties: { size: { type: 'string' } } } })],
                    get: {
                        ...operation('filtered'),
                        parameters: [param('all', 'query', { schema: { type: 'object', properties: { size: { type: 'integer' } } } })],
                    },
                },
                '/empty': {
                    get: {
                        ...operation('empty'),
                        parameters: [param('filter', 'query', { required: true, schema: { type: 'object', properties: {} } })],
                    },
                },
                '/parts': {
                    get: {
                        ...operation('parts'),
                        parameters: [
                            param('filter', 'query', {
                                required: true,
                                schema: { type: 'object', properties: { a: {} }, allOf: [{ type: 'object', properties: { b: {} } }] },
                            }),
                        ],
                    },
                },
                '/headed': { get: { ...operation('headed'), parameters: [param('X-Tenant', 'header', { required: true })] } },
                '/undescribed/{thing}': { get: operation('undescribed') },
                '/traced': { trace: operation('traced'), options: operation('asked') },
            },
        });
        const item = requestFor(imported.package, 'item', {
            ...{ shop_id: 7, id_2: 'a b', tags: ['x', 'y'], fields: ['a', 'b,c'], ids: [1, 2], words: ['a', 'b'], expand: ['shop'] },
            ...{ filter: { colour: 'red' }, created: { gte: 5 }, r: 9, 'x-trace': 't 1' },
        });
        expect(item.url).to.equal(
            'https://api.shop.example/shops/7/items/a%20b?tags=x&tags=y&fields=a,b%2Cc&ids=1|2&words=a%20b&expand[]=shop&filter[colour]=red&created[gte]=5&r=9&limit=20',
        );
        expect(item.headers).to.include({ 'x-trace': 't 1', fields: 'all' });
        expect(endpoint(imported, 'page').params?.map(({ name, required }) => [name, required])).to.deep.equal([
            ['page', true],
            ['sort', false],
        ]);
        expect(requestFor(imported.package, 'page', { page: 0, sort: ['a', 'b'] }).url).to.equal(
            'https://api.shop.example/page?page=0&sort=a&sort=b',
        );
        expect(endpoint(imported, 'filtered').params).to.deep.equal([
            { name: 'size', schema: { type: 'integer' }, source: 'query', required: false },
        ]);
        expect(endpoint(imported, 'versioned').headers).to.deep.equal({ 'x-version': '2026-01' });
        expect(requestFor(imported.package, 'headed', { 'X-Tenant': 'acme' }).headers).to.include({ 'x-tenant': 'acme' });
        expect(requestFor(imported.package, 'car', { car_id: 7, part: 'a/b' }).url).to.equal(
            'https://api.shop.example/cars/;car-id=7/.a%2Fb.json',
        );
        expect(whys(imported, 'part')).to.include({
            'GET /shops/{shop-id}/items/{id}, created[deep]': 'An object in a query or a form has one level.',
            'GET /shops/{shop-id}/items/{id}, color': 'This object can be sent only in the style deepObject.',
            'GET /shops/{shop-id}/items/{id}, header User-Agent':
                'A package may not set the header "user-agent": Routebook names itself. Leave it out.',
            'GET /shops/{shop-id}/items/{id}, sid': 'A package contains no cookies.',
            'GET /undescribed/{thing}, thing': 'The document does not describe it, so it is imported as a text.',
        });
        expect(Object.keys(whys(imported, 'operation'))).to.have.members([
            'GET /matrix/{v}',
            'GET /strict',
            'GET /empty',
            'GET /parts',
            'TRACE /traced',
            'OPTIONS /traced',
        ]);
    });

    it('sends bodies as JSON and as forms, in the shape of the document', () => {
        const body = (type: string, schema: object, required = true, encoding = {}) => ({
            required,
            content: { [type]: { schema, encoding } },
        });
        const person = {
            type: 'object',
            required: ['name'],
            properties: { id: { type: 'integer', readOnly: true }, name: { type: 'string' }, born: { type: 'string', format: 'date' } },
        };
        const imported = importWhole({
            paths: {
                '/people': {
                    post: {
                        ...operation('add'),
                        requestBody: body('application/json', { allOf: [person, { properties: { note: { type: 'string' } } }] }),
                    },
                },
                '/people/{id}': {
                    put: {
                        ...operation('set'),
                        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
                        requestBody: body('application/merge-patch+json', {
                            type: 'object',
                            properties: { id: { type: 'string' }, 'first name': { type: 'string' } },
                        }),
                    },
                },
                '/bulk': {
                    post: { ...operation('bulk'), requestBody: body('application/json', { type: 'array', items: { type: 'integer' } }) },
                },
                '/either': {
                    post: {
                        ...operation('either'),
                        requestBody: body('application/json', {
                            oneOf: [
                                { type: 'object', properties: { a: { type: 'string' } } },
                                { type: 'object', properties: { b: { type: 'string' } } },
                            ],
                        }),
                    },
                },
                '/form': {
                    post: {
                        ...operation('form'),
                        requestBody: body(
                            'application/x-www-form-urlencoded',
                            {
                                type: 'object',
                                properties: {
                                    a: { type: 'string' },
                                    list: { type: 'array', items: { type: 'string' } },
                                    deep: { type: 'object' },
                                    metadata: { type: 'object' },
                                },
                            },
                            true,
                            { metadata: { style: 'deepObject' }, list: { style: 'form', explode: false } },
                        ),
                    },
                },
                '/photo': {
                    post: {
                        ...operation('photo'),
                        requestBody: body('multipart/form-data', {
                            type: 'object',
                            required: ['photo'],
                            properties: {
                                photo: { type: 'string', format: 'binary', description: 'The picture.' },
                                more: { type: 'array', items: { type: 'string', contentMediaType: 'image/png' } },
                                title: { type: 'string' },
                                tags: { type: 'array', items: { type: 'string' } },
                                place: { type: 'object' },
                            },
                        }),
                    },
                },
                '/message': { post: { ...operation('message'), requestBody: body('text/plain', { type: 'string' }) } },
                '/settings': { put: { ...operation('settings'), requestBody: body('application/x-yaml', { type: 'string' }) } },
                '/lines': { post: { ...operation('lines'), requestBody: body('application/x-ndjson', { type: 'string' }) } },
                '/upload': { post: { ...operation('upload'), requestBody: body('application/octet-stream', { format: 'binary' }) } },
                '/picture': { post: { ...operation('picture'), requestBody: body('image/png', { type: 'string' }) } },
                '/maybe': { post: { ...operation('maybe'), requestBody: body('multipart/form-data', { type: 'object' }, false) } },
                '/odd': { get: { ...operation('odd'), requestBody: body('application/json', person) } },
                '/restart': {
                    post: {
                        ...operation('restart'),
                        requestBody: { content: { 'application/json': { schema: { properties: { hard: { type: 'boolean' } } } } } },
                    },
                },
            },
        });
        expect(requestFor(imported.package, 'add', { name: 'Ada', note: 'x' })).to.deep.include({
            body: { name: 'Ada', note: 'x' },
            type: 'application/json',
        });
        expect(endpoint(imported, 'add').params?.map(({ name, required }) => [name, required])).to.deep.equal([
            ['name', true],
            ['born', false],
            ['note', false],
        ]);
        expect(requestFor(imported.package, 'set', { id: 7, id_2: 'x', first_name: 'Ada' })).to.deep.include({
            url: 'https://api.shop.example/people/7',
            body: { id: 'x', 'first name': 'Ada' },
            type: 'application/merge-patch+json',
        });
        expect(requestFor(imported.package, 'bulk', { body: [1, 2] }).body).to.deep.equal([1, 2]);
        expect(requestFor(imported.package, 'either', { body: { b: 'x' } }).body).to.deep.equal({ b: 'x' });
        expect(requestFor(imported.package, 'form', { a: 'x y', list: ['1', '2'], metadata: { order: 7 } }).body).to.equal(
            'a=x+y&list=1,2&metadata[order]=7',
        );
        expect(requestFor(imported.package, 'restart')).to.deep.include({ body: null, type: undefined });
        expect(requestFor(imported.package, 'restart', { hard: false }).body).to.deep.equal({ hard: false });
        expect(whys(imported, 'operation')).to.deep.equal({
            'POST /picture': 'Its body is image/png, but only JSON, forms and texts can be imported.',
            'GET /odd': 'A GET request has no body.',
        });
        expect(whys(imported, 'part')).to.deep.equal({
            'POST /form, deep': 'This object can be sent only in the style deepObject.',
            'POST /photo, more': 'A call can send only one file of this list.',
            'POST /upload, the body': 'It is sent as text, so binary content cannot be sent.',
        });
        const photo = { filename: 'a.png', content_type: 'image/png', base64: 'AAAA' };
        const sent = requestFor(imported.package, 'photo', { photo, title: 'x', tags: ['a', 'b'] });
        expect(sent.body).to.deep.equal({
            photo: { filename: 'a.png', content_type: 'image/png', bytes: 3 },
            title: 'x',
            tags: ['a', 'b'],
        });
        expect(sent.type).to.match(/^multipart\/form-data; boundary=/);
        expect(requestFor(imported.package, 'message', { body: 'hello' })).to.deep.include({
            body: 'hello',
            type: 'text/plain; charset=utf-8',
        });
        for (const [name, type] of [
            ['settings', 'application/x-yaml'],
            ['lines', 'application/x-ndjson'],
            ['upload', 'application/octet-stream'],
        ] as const)
            expect(requestFor(imported.package, name, { body: 'a: 1' })).to.deep.include({ body: 'a: 1', type });
    });

    it('takes the text of JSON for fields of forms that the document sends as JSON', () => {
        const properties = {
            to: { type: 'array', items: { type: 'integer' }, description: 'Whom.', example: [1, 10] },
            note: { type: 'string', example: 'Hi' },
            about: { type: 'object', properties: { topic: { type: 'string' } } },
            rows: { type: 'string' },
            people: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
            said: { type: 'string', contentMediaType: 'application/json' },
        };
        const form = (type: string, encoding: object) => ({
            ...operation(type.includes('multipart') ? 'parts' : 'form'),
            requestBody: {
                required: true,
                content: { [type]: { schema: { type: 'object', required: ['to', 'about'], properties }, encoding } },
            },
        });
        const json = { contentType: 'application/json' };
        const text = { type: 'string', contentMediaType: 'application/json' };
        const imported = importWhole({
            paths: {
                '/a': { post: form('application/x-www-form-urlencoded', { to: json, about: json, note: json, people: json }) },
                '/b': {
                    post: form('multipart/form-data', {
                        rows: { contentType: 'text/csv, text/plain' },
                        note: { contentType: 'text/plain' },
                    }),
                },
            },
        });
        expect(whys(imported, 'operation')).to.deep.equal({});
        expect(endpoint(imported, 'form').params).to.deep.equal([
            {
                name: 'to',
                source: 'body',
                required: true,
                description: 'Whom.\n\nJSON, as a text.',
                schema: text,
                example: '[1,10]',
            },
            { name: 'note', source: 'body', required: false, schema: { type: 'string' }, example: 'Hi' },
            { name: 'about', source: 'body', required: true, description: 'JSON, as a text.', schema: text },
            { name: 'rows', source: 'body', required: false, schema: { type: 'string' } },
            { name: 'people', source: 'body', required: false, description: 'JSON, as a text.', schema: text },
            { name: 'said', source: 'body', required: false, schema: { type: 'string' } },
        ]);
        expect(requestFor(imported.package, 'form', { to: '[1,10]', about: '{"topic":"a"}' }).body).to.equal(
            'to=%5B1%2C10%5D&about=%7B%22topic%22%3A%22a%22%7D',
        );
        expect(endpoint(imported, 'parts').params?.map(({ name, schema }) => [name, schema])).to.deep.equal([
            ['to', { type: 'array', items: { type: 'integer' } }],
            ['note', { type: 'string' }],
            ['about', text],
            ['rows', { type: 'string', contentMediaType: 'text/csv' }],
            ['people', { type: 'array', items: text }],
            ['said', text],
        ]);
        expect(faultsOf(imported.package)).to.deep.equal([]);
    });

    it('requests the response type of the document', () => {
        const answers = (...types: string[]) => ({
            get: { responses: { 200: { description: '', content: Object.fromEntries(types.map((type) => [type, {}])) } } },
        });
        const imported = importWhole({
            paths: {
                '/own': answers('application/vnd.api+json; version=1'),
                '/either': answers('application/xml', 'application/hal+json', 'application/json'),
                '/csv': answers('text/csv'),
                '/text': answers('text/plain'),
                '/any': answers('*/*'),
            },
        });
        expect(imported.package.endpoints.map(({ name, headers }) => [name, headers])).to.deep.equal([
            ['get_own', { accept: 'application/vnd.api+json' }],
            ['get_either', undefined],
            ['get_csv', { accept: 'text/csv' }],
            ['get_text', undefined],
            ['get_any', { accept: 'application/json, */*;q=0.5' }],
        ]);
    });

    it('gives response fields the types that they are read as', () => {
        const answers = (type: string) => ({ get: { responses: { 200: { description: '', content: { [type]: {} } } } } });
        const types = {
            '/rows': 'text/csv; charset=utf-8',
            '/tabs': 'text/tab-separated-values',
            '/lines': 'application/x-ndjson',
            '/news': 'application/atom+xml',
            '/notes': 'application/feed+json',
            '/picture': 'image/svg+xml',
            '/paper': 'application/pdf',
            '/data': 'application/xml',
            '/settings': 'application/x-yaml',
            '/backup': 'application/gzip',
            '/song': 'audio/mpeg',
        };
        const imported = importWhole({ paths: Object.fromEntries(Object.entries(types).map(([path, type]) => [path, answers(type)])) });
        expect(imported.package.endpoints.map(({ name, response }) => [name, response?.type])).to.deep.equal([
            ['get_rows', 'csv'],
            ['get_tabs', 'csv'],
            ['get_lines', 'ndjson'],
            ['get_news', 'feed'],
            ['get_notes', 'json'],
            ['get_picture', 'binary'],
            ['get_paper', 'binary'],
            ['get_data', 'text'],
            ['get_settings', 'text'],
            ['get_backup', 'binary'],
            ['get_song', 'binary'],
        ]);
        expect(endpoint(imported, 'get_backup').headers).to.deep.equal({ accept: 'application/gzip' });
    });

    it('says which endpoints need a credential, and lists unsupported ones', () => {
        const imported = importWhole({
            security: [{ key: [] }],
            components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
            webhooks: { sold: { post: operation('sold') } },
            paths: {
                '/closed': { get: { ...operation('closed'), callbacks: { done: {} } } },
                '/open': { get: { ...operation('open'), security: [] } },
                '/both': { get: { ...operation('both'), security: [{}, { key: [] }] } },
                '/stream': {
                    get: { ...operation('stream'), responses: { 200: { description: '', content: { 'text/event-stream': {} } } } },
                },
                '/image': { get: { ...operation('image'), responses: { 200: { description: '', content: { 'image/png': {} } } } } },
                '/text': { get: { ...operation('text'), responses: { 200: { description: '', content: { 'text/csv': {} } } } } },
                '/page': { get: { ...operation('page'), responses: { 200: { description: '', content: { 'text/html': {} } } } } },
            },
        });
        expect(
            imported.package.endpoints.map(({ name, hosted = true, kind, response }) => [name, hosted, kind, response?.type]),
        ).to.deep.equal([
            ['closed', true, 'api_call', 'json'],
            ['open', true, 'api_call', 'json'],
            ['both', true, 'api_call', 'json'],
            ['stream', true, 'api_call', 'ndjson'],
            ['image', true, 'api_call', 'binary'],
            ['text', true, 'api_call', 'csv'],
            ['page', true, 'navigate', 'html'],
        ]);
        expect(whys(imported, 'operation')).to.deep.equal({});
        expect(endpoint(imported, 'stream')).to.deep.include({ auth: 'required', response: { type: 'ndjson', sse: true } });
        expect(whys(imported, 'part')['GET /closed, callbacks']).to.match(/cannot describe calls from the site/);
        expect(whys(imported, 'document')['webhooks']).to.match(/1 webhooks/);
    });

    it('leaves out placeholder descriptions, which lint refuses, and keeps texts that only mention such words', () => {
        const bare = importWhole({ info: { title: 'Boats', description: '<p/>' }, paths: { '/boats': { get: operation('boats') } } });
        expect(bare.package.description).to.equal(undefined);
        expect(faultsOf(bare.package)).to.deep.equal([]);
        const said = 'Makes quotes, names and lorem ipsum.';
        const kept = importWhole({ info: { title: 'Boats', description: said }, paths: { '/boats': { get: operation('boats') } } });
        expect(kept.package.description).to.equal(said);
        expect(faultsOf(kept.package)).to.deep.equal([]);
    });

    it('limits schemas: cycles end, 3.0 and 3.1 mean the same, lists are in items', () => {
        const node = {
            type: 'object',
            required: ['id', 'gone', 'kind'],
            properties: {
                id: { type: 'integer' },
                kind: { type: 'string', default: 'leaf' },
                next: { $ref: '#/components/schemas/Node' },
                secret: { type: 'string', writeOnly: true },
            },
        };
        const answers = (schema: object) => ({
            ...operation(''),
            responses: { 200: { description: '', content: { 'application/json': { schema } } } },
        });
        const imported = importWhole({
            components: {
                schemas: {
                    Node: node,
                    Loop: { $ref: '#/components/schemas/Loop' },
                    Old: { type: 'string', nullable: true, minimum: 1 },
                    New: { type: ['string', 'null'] },
                },
            },
            paths: {
                '/one': { get: { ...answers({ $ref: '#/components/schemas/Node' }), operationId: 'one' } },
                '/many': { get: { ...answers({ type: 'array', items: { $ref: '#/components/schemas/Node' } }), operationId: 'many' } },
                '/loop': { get: { ...answers({ $ref: '#/components/schemas/Loop' }), operationId: 'loop' } },
                '/add': {
                    post: {
                        ...operation('add'),
                        requestBody: {
                            content: { 'application/json': { schema: { properties: { node: { $ref: '#/components/schemas/Node' } } } } },
                        },
                    },
                },
                '/old': {
                    get: {
                        ...answers({
                            type: 'object',
                            properties: { a: { $ref: '#/components/schemas/Old' }, b: { $ref: '#/components/schemas/New' } },
                        }),
                        operationId: 'old',
                    },
                },
            },
        });
        const one = { type: 'object', required: ['id'], properties: { id: { type: 'integer' }, kind: { type: 'string' }, next: {} } };
        expect(endpoint(imported, 'one').response?.schema).to.deep.equal(one);
        const { schema: given } = endpoint(imported, 'add').params?.[0] ?? {};
        expect(given).to.have.deep.nested.property('properties.next', { type: 'object' });
        expect(endpoint(imported, 'many').response?.schema).to.deep.equal({
            type: 'object',
            required: ['items'],
            properties: { items: { type: 'array', items: one } },
        });
        expect(endpoint(imported, 'loop').response).to.deep.equal({ type: 'json' });
        expect(endpoint(imported, 'old').response?.schema).to.deep.equal({
            type: 'object',
            properties: { a: { type: ['string', 'null'] }, b: { type: ['string', 'null'] } },
        });
    });

    it('allows null where a document allows it beside references and parts', () => {
        const schemas = {
            City: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
            Size: { type: 'string', enum: ['s', 'l'] },
        };
        const city = { $ref: '#/components/schemas/City' };
        const size = { $ref: '#/components/schemas/Size' };
        const properties = {
            byParts: { nullable: true, allOf: [city] },
            byRef: { nullable: true, ...size },
            byEither: { nullable: true, anyOf: [city, size] },
            byVendor: { 'x-nullable': true, type: 'integer' },
            never: { allOf: [city] },
        };
        const schema = { type: 'object', properties };
        const imported = importWhole({
            components: { schemas },
            paths: {
                '/home': {
                    post: {
                        operationId: 'home',
                        requestBody: { content: { 'application/json': { schema } } },
                        responses: { 200: { description: '', content: { 'application/json': { schema } } } },
                    },
                },
            },
        });
        const { response, params = [] } = endpoint(imported, 'home');
        const given = { type: 'object', properties: Object.fromEntries(params.map((param) => [param.name, param.schema ?? {}])) };
        for (const made of [response?.schema ?? {}, given])
            for (const name of Object.keys(properties))
                expect(checkBySchema(made, { [name]: null }), `${name} in ${JSON.stringify(made)}`).to.equal(name !== 'never');
        expect(checkBySchema(given, { byRef: 'xl' })).to.equal(false);
    });

    it('tells the alternatives of a body apart by their discriminator', () => {
        const pet = (more: object) => ({ type: 'object', properties: { kind: { type: 'string' }, ...more } });
        const ref = (name: string) => `#/components/schemas/${name}`;
        const schema = {
            oneOf: [{ $ref: ref('Cat') }, { $ref: ref('Dog') }, { $ref: ref('Fish') }],
            discriminator: { propertyName: 'kind', mapping: { cat: ref('Cat'), hound: 'Dog', pup: ref('Dog') } },
        };
        const imported = importWhole({
            components: {
                schemas: { Cat: pet({ lives: { type: 'integer' } }), Dog: pet({ bark: { type: 'string' } }), Fish: pet({}) },
            },
            paths: {
                '/pets': { post: { ...operation('add'), requestBody: { required: true, content: { 'application/json': { schema } } } } },
            },
        });
        const given = endpoint(imported, 'add').params?.[0]?.schema ?? {};
        const kinds = ['cat', 'hound', 'pup', 'Fish', 'bird'];
        expect(kinds.filter((kind) => checkBySchema(given, { kind }))).to.deep.equal(['cat', 'hound', 'pup', 'Fish']);
        expect(checkBySchema(given, { kind: 'cat', lives: 'nine' })).to.equal(false);
        expect(checkBySchema(given, { lives: 9 })).to.equal(false);
    });

    it('leaves a discriminator that is a number as it is', () => {
        const pet = (choices: object) => ({ type: 'object', properties: { kind: { type: 'integer', ...choices } } });
        const [one, two] = ['#/components/schemas/A', '#/components/schemas/B'];
        const schema = { oneOf: [{ $ref: one }, { $ref: two }], discriminator: { propertyName: 'kind', mapping: { 1: one, 2: two } } };
        const imported = importWhole({
            components: { schemas: { A: pet({}), B: pet({ enum: [2, 3] }) } },
            paths: {
                '/x': { post: { ...operation('add'), requestBody: { required: true, content: { 'application/json': { schema } } } } },
            },
        });
        const { anyOf } = (endpoint(imported, 'add').params?.[0]?.schema ?? {}) as JsonObject;
        expect(anyOf).to.deep.equal([pet({}), { ...pet({ enum: [2] }), required: ['kind'] }]);
    });

    it('keeps the fields of a large object in a body, and the codes of all countries', () => {
        const card = { type: 'object', properties: Object.fromEntries([...'abcdefgh'].map((key) => [key, { type: 'string' }])) };
        const cards = Object.fromEntries([...Array(12).keys()].map((place) => [`card${place}`, card]));
        const codes = [...Array(249).keys()].map((place) => `C${place}`);
        const schema = { type: 'object', properties: { types: { type: 'object', properties: cards }, country: { enum: codes } } };
        const imported = importWhole({
            paths: {
                '/cards': { post: { ...operation('add'), requestBody: { required: true, content: { 'application/json': { schema } } } } },
            },
        });
        expect(endpoint(imported, 'add').params?.map((param) => param.schema)).to.deep.equal([schema.properties.types, { enum: codes }]);
    });

    it('imports any graph of schemas into valid ones', () => {
        const name = fc.constantFrom('A', 'B', 'C', 'D');
        const schema = fc.letrec((tie) => ({
            any: fc.oneof(
                { maxDepth: 6 },
                name.map((one) => ({ $ref: `#/components/schemas/${one}` })),
                fc.record(
                    {
                        type: fc.constantFrom('string', 'integer', 'number', 'boolean', 'file', 'null'),
                        nullable: fc.boolean(),
                        enum: fc.array(fc.oneof(fc.string(), fc.integer(), fc.constant(null))),
                        pattern: fc.constantFrom('^a+$', '(?=x)', '(a|b){9,999}', '['),
                        format: fc.constantFrom('date', 'int64', 'nonsense'),
                        minimum: fc.integer(),
                        exclusiveMinimum: fc.boolean(),
                        maxLength: fc.oneof(fc.nat(), fc.constant(-1)),
                        default: fc.jsonValue(),
                    },
                    { requiredKeys: ['type'] },
                ),
                fc.record({ type: fc.constant('array'), items: tie('any'), uniqueItems: fc.boolean() }),
                fc.record(
                    {
                        type: fc.constant('object'),
                        properties: fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'a')), tie('any')),
                        required: fc.array(fc.string()),
                        additionalProperties: fc.oneof(fc.boolean(), tie('any')),
                    },
                    { requiredKeys: ['type', 'properties'] },
                ),
                fc.record({ allOf: fc.array(tie('any'), { maxLength: 3 }) }),
                fc.record({ oneOf: fc.array(tie('any'), { maxLength: 3 }), discriminator: fc.constant({ propertyName: 'kind' }) }),
                fc.boolean(),
            ),
        })).any;
        fc.assert(
            fc.property(fc.record({ A: schema, B: schema, C: schema, D: schema }), schema, schema, (schemas, sent, answered) => {
                const imported = importWhole({
                    components: { schemas: schemas as JsonObject },
                    paths: {
                        '/x': {
                            post: {
                                operationId: 'x',
                                parameters: [{ name: 'p', in: 'query', schema: sent as Json }],
                                requestBody: { content: { 'application/json': { schema: sent as Json } } },
                                responses: { 200: { description: '', content: { 'application/json': { schema: answered as Json } } } },
                            },
                        },
                    },
                });
                expect(imported.counts.operations).to.equal(1);
                expect(faultsOf(imported.package).filter((fault) => !/at least 1 of the endpoints/.test(fault))).to.deep.equal([]);
                const response = imported.package.endpoints[0]?.response?.schema;
                if (response !== undefined) expect(checkJsonSchema(response)).to.deep.equal([]);
            }),
            { numRuns: 300 },
        );
    });

    it('splits a document beyond the limits of a package by tag, and imports all of it', () => {
        const paths = Object.fromEntries(
            Array.from({ length: 900 }, (_, index) => [
                `/things${index}`,
                { get: { ...operation(`thing${index}`), tags: [['Red things', 'blue', 'GREEN'][index % 3]] } },
            ]),
        );
        const many = importWhole({ paths });
        expect(many.counts).to.deep.equal({ operations: 900, carried: 900, notCarried: 0 });
        expect(many.packages.map(({ site, endpoints }) => [site, endpoints.length])).to.deep.equal([
            ['shop.example', 300],
            ['blue.shop.example', 300],
            ['green.shop.example', 300],
        ]);
        expect(many.packages.map(({ title }) => title)).to.deep.equal(['Shop', 'Shop: blue', 'Shop: GREEN']);
        expect(many.packages.flatMap(faultsOf)).to.deep.equal([]);
        expect(many.packages.every(({ endpoints }) => new Set(endpoints.map(({ url }) => url)).size === endpoints.length)).to.equal(true);
        const parameters = Array.from({ length: 90 }, (_, index) => ({ name: `p${index}`, in: 'query', schema: { type: 'string' } }));
        const wide = importWhole({
            paths: Object.fromEntries(
                Array.from({ length: 30 }, (_, index) => [`/wide${index}`, { get: { ...operation(`wide${index}`), parameters } }]),
            ),
        });
        expect(wide.counts).to.deep.equal({ operations: 30, carried: 30, notCarried: 0 });
        expect(wide.packages.map(({ endpoints }) => endpoints.length)).to.deep.equal([22, 8]);
    });

    it('chooses the most useful operations if one package is wanted, and lists the others', () => {
        const paths = Object.fromEntries(
            Array.from({ length: 620 }, (_, index) => [
                `/things${index}`,
                index < 300 ? { delete: operation(`remove${index}`) } : { get: { ...operation(`thing${index}`), summary: 'A thing.' } },
            ]),
        );
        const one = importDocument(whole({ paths }), { single: true });
        expect(one.packages).to.have.length(1);
        expect(one.counts).to.deep.equal({ operations: 620, carried: 500, notCarried: 120 });
        expect(one.package.endpoints.filter(({ method }) => method === 'GET')).to.have.length(320);
        expect(faultsOf(one.package)).to.deep.equal([]);
    });

    it('imports only the operations of a tag, a path or a method on request', () => {
        const tagged = (name: string, ...tags: string[]) => ({ ...operation(name), tags });
        const document = whole({
            paths: {
                '/orders': { get: tagged('a', 'Orders'), post: tagged('b', 'Orders') },
                '/orders/{id}/lines': { get: tagged('c', 'Orders', 'Lines') },
                '/ordersets': { get: tagged('d') },
                '/users/{id}/orders': { get: tagged('e', 'Users') },
            },
        });
        const named = (...only: string[]) => importDocument(document, { only }).package.endpoints.map(({ name }) => name);
        expect(named('orders')).to.deep.equal(['a', 'b', 'c']);
        expect(named('/orders')).to.deep.equal(['a', 'b', 'c']);
        expect(named('/users/*/orders', '/ordersets')).to.deep.equal(['d', 'e']);
        expect(named('post')).to.deep.equal(['b']);
        expect(named(' GET ', '/ordersets')).to.deep.equal(['d']);
        expect(named('GET', 'Orders', 'users')).to.deep.equal(['a', 'c', 'e']);
        expect(() => named('nothing')).to.throw(CannotImport, /No operation has the tag, path or method nothing/);
        expect(whys(importDocument(document, { only: ['GET'] }), 'document')).to.deep.equal({ '--only': 'Left 1 of 5 operations out.' });
    });

    it('lists invalid operations, and names the missing parameter', () => {
        const lost = { ...operation('b'), parameters: [{ $ref: '#/components/parameters/Lost' }] };
        const found = importWhole({ paths: { '/a': { get: operation('a'), post: 'nonsense' }, '/b': { get: lost } } });
        expect(found.counts).to.deep.equal({ operations: 3, carried: 1, notCarried: 2 });
        expect(found.notCarried).to.deep.equal([
            { where: 'POST /a', why: 'It is not an object.', scope: 'operation' },
            { where: 'GET /b', why: 'A parameter refers to nothing in this document (#/components/parameters/Lost).', scope: 'operation' },
        ]);
    });

    it('follows the pages of operations that a document marks as pageable, by fields that the answer has', () => {
        const list = (pageable: Json, fields: readonly string[], param = '$skipToken') => ({
            get: {
                ...operation('list'),
                'x-ms-pageable': pageable,
                parameters: [{ name: param, in: 'query', schema: { type: 'string' } }],
                responses: {
                    200: {
                        description: 'The boats.',
                        content: {
                            'application/json': {
                                schema: {
                                    type: 'object',
                                    properties: Object.fromEntries(
                                        fields.map((field) => [
                                            field,
                                            field === 'value' || field === 'boats'
                                                ? { type: 'array', items: { type: 'string' } }
                                                : { type: 'string' },
                                        ]),
                                    ),
                                },
                            },
                        },
                    },
                },
            },
        });
        const { package: imported } = importWhole({
            paths: {
                '/a': list({ nextLinkName: 'nextLink' }, ['value', 'nextLink']),
                '/b': list({ nextLinkName: '@odata.nextLink', itemName: 'boats' }, ['boats', '@odata.nextLink']),
                '/c': list({ nextLinkName: null }, ['value']),
                '/d': list({ nextLinkName: 'nextLink' }, ['value']),
                '/e': list({ nextLinkName: 'nextLink' }, ['value', 'nextLink'], 'colour'),
            },
        });
        expect(faultsOf(imported)).to.deep.equal([]);
        expect(imported.endpoints.map(({ pagination, billing }) => [pagination?.param, pagination?.next, billing?.results])).to.deep.equal([
            ['$skipToken', 'nextLink', 'value'],
            ['$skipToken', '"@odata.nextLink"', 'boats'],
            ...Array.from({ length: 3 }, () => [undefined, undefined, undefined]),
        ]);
    });

    it('reads operations behind the # of one path, like those of AWS', () => {
        const imported = importWhole({
            paths: {
                '/{bucket}#acl': {
                    get: {
                        ...operation('acl'),
                        parameters: [{ name: 'acl', in: 'query', required: true, schema: { type: 'boolean', enum: [true] } }],
                    },
                },
                '/{bucket}#tagging': {
                    get: { ...operation('tagging'), parameters: [{ name: 'id', in: 'query', required: true, schema: { type: 'string' } }] },
                },
                '/#X-Target=Shop.List': {
                    post: {
                        ...operation('list'),
                        parameters: [{ name: 'X-Target', in: 'header', required: true, schema: { type: 'string', enum: ['Shop.List'] } }],
                    },
                },
            },
        });
        expect(faultsOf(imported.package)).to.deep.equal([]);
        expect(requestFor(imported.package, 'acl', { bucket: 'b' }).url).to.equal('https://api.shop.example/b?acl=true');
        expect(requestFor(imported.package, 'tagging', { bucket: 'b', id: '7' }).url).to.equal('https://api.shop.example/b?id=7');
        expect(requestFor(imported.package, 'list').headers).to.include({ 'x-target': 'Shop.List' });
    });

    it('imports descriptions, defaults, examples and choices of params, wherever they are', () => {
        const imported = importWhole({
            components: {
                schemas: { Size: { type: 'string', enum: ['s', 'm'], description: 'How large.', examples: ['m'] } },
                examples: { Ada: { value: 'ada' } },
            },
            paths: {
                '/a/{size}': {
                    get: {
                        ...operation('a'),
                        parameters: [
                            { name: 'size', in: 'path', required: true, schema: { $ref: '#/components/schemas/Size' } },
                            {
                                name: 'who',
                                in: 'query',
                                required: true,
                                examples: { x: { $ref: '#/components/examples/Ada' } },
                                schema: { type: 'string' },
                            },
                            { name: 'limit', in: 'query', schema: { type: 'integer', default: 20, example: 5 } },
                            { name: 'ids', in: 'query', example: [1, 2], schema: { type: 'array', items: { type: 'integer' } } },
                        ],
                    },
                    post: {
                        ...operation('b'),
                        parameters: [{ name: 'size', in: 'path', required: true, schema: { type: 'string' } }],
                        requestBody: {
                            required: true,
                            content: {
                                'application/json': {
                                    example: { name: 'Ada' },
                                    schema: {
                                        type: 'object',
                                        properties: {
                                            name: { type: 'string' },
                                            age: { type: 'integer', description: 'In years.', example: 36 },
                                        },
                                    },
                                },
                            },
                        },
                    },
                },
            },
        });
        const shownOf = (name: string) =>
            (endpoint(imported, name).params ?? []).map(({ name: param, description, default: standard, example }) =>
                JSON.parse(JSON.stringify([param, description ?? null, standard ?? null, example ?? null])),
            );
        expect(shownOf('a')).to.deep.equal([
            ['size', 'How large.', null, 'm'],
            ['who', null, null, 'ada'],
            ['limit', null, 20, 5],
            ['ids', null, null, [1, 2]],
        ]);
        expect(endpoint(imported, 'a').params?.[0]?.schema).to.deep.equal({ type: 'string', enum: ['s', 'm'] });
        expect(endpoint(imported, 'a').examples).to.deep.equal([{ params: { size: 'm', who: 'ada' } }]);
        expect(shownOf('b').slice(1)).to.deep.equal([
            ['name', null, null, 'Ada'],
            ['age', 'In years.', null, 36],
        ]);
        expect(faultsOf(imported.package)).to.deep.equal([]);
    });

    it('tells the defaults of body fields and sends none, since a change would reset what a caller does not name', () => {
        const properties = {
            private: { type: 'boolean', default: false, description: 'Who sees it.' },
            type: { type: 'string', enum: ['repository'] },
            order: { type: 'string', enum: ['asc', 'desc'], default: 'desc' },
            license: { type: 'object', properties: { key: { type: 'string', default: 'mit' } } },
            count: { type: 'integer', default: 'many' },
            token: { type: 'string', default: 'sk_live_4eC39HqLyjWDarjtT1zdp7dc' },
        };
        const change = (type: string, id: string) => ({
            ...operation(id),
            requestBody: { required: true, content: { [type]: { schema: { type: 'object', required: ['type', 'order'], properties } } } },
        });
        const { license: _license, ...plain } = properties;
        const form = { schema: { type: 'object', required: ['type'], properties: plain } };
        const imported = importWhole({
            paths: {
                '/a': { patch: change('application/json', 'change') },
                '/b': { post: { ...operation('form'), requestBody: { content: { 'application/x-www-form-urlencoded': form } } } },
            },
        });
        const shown = (name: string) =>
            Object.fromEntries(
                (endpoint(imported, name).params ?? []).map(({ name: param, required, default: sent, schema }) => [
                    param,
                    { required, sent, schema },
                ]),
            );
        const field = (schema: object, more: object = {}) => ({ required: false, sent: undefined, schema, ...more });
        expect(shown('change')).to.deep.equal({
            private: field({ type: 'boolean', default: false }),
            type: field({ type: 'string', enum: ['repository'] }, { sent: 'repository' }),
            order: field({ type: 'string', enum: ['asc', 'desc'], default: 'desc' }, { required: true }),
            license: field({ type: 'object', properties: { key: { type: 'string', default: 'mit' } } }),
            count: field({ type: 'integer' }),
            token: field({ type: 'string' }),
        });
        expect(requestFor(imported.package, 'change', { order: 'asc' }).body).to.deep.equal({ type: 'repository', order: 'asc' });
        expect(shown('form')).to.deep.include({
            private: field({ type: 'boolean', default: false }),
            type: field({ type: 'string', enum: ['repository'] }),
        });
        expect(requestFor(imported.package, 'form').body).to.equal(null);
        expect(faultsOf(imported.package)).to.deep.equal([]);
    });

    it('imports defaults and examples of params that have a format', () => {
        const parameters = [
            { name: 'day', in: 'path', required: true, schema: { type: 'string', format: 'date', example: '2026-01-15' } },
            { name: 'since', in: 'query', schema: { type: 'string', format: 'date-time', default: '2026-01-15T00:00:00Z' } },
            { name: 'until', in: 'query', example: 'tomorrow', schema: { type: 'string', format: 'date' } },
        ];
        const imported = importWhole({ paths: { '/rates/{day}': { get: { ...operation('rates'), parameters } } } });
        const [day, since, until] = endpoint(imported, 'rates').params ?? [];
        expect(day).to.include({ example: '2026-01-15' });
        expect(since).to.include({ default: '2026-01-15T00:00:00Z' });
        expect(until).to.not.have.property('example');
        expect(endpoint(imported, 'rates').examples).to.deep.equal([{ params: { day: '2026-01-15' } }]);
    });

    it('takes the category from titles, not from the words of paths', () => {
        const paths = Object.fromEntries(
            ['status', 'health', 'config', 'target', 'alert'].map((word) => [`/${word}/rule/flag`, { get: operation(word) }]),
        );
        const weather = importWhole({ info: { title: 'Weather forecast', description: 'Temperature, wind and rain.' }, paths });
        expect(weather.package.intent_category).to.equal('weather/forecast');
        const connect = Object.fromEntries(
            ['GET', 'POST', 'PUT'].map((word) => [
                `/${word}`,
                { post: { ...operation(word), summary: `connect ${word} requests to the proxy` } },
            ]),
        );
        expect(importWhole({ info: { title: 'Clusters' }, paths: connect }).package.intent_category).to.not.equal('social/posts');
    });

    it('needs a site for a document whose host is not public', () => {
        const local = { servers: [{ url: 'http://shop.local' }], paths: { '/a': { get: operation('a') } } };
        expect(whys(importWhole(local), 'operation')).to.deep.equal({
            'GET /a': 'shop.local is not the name of a public site; name the site with --site.',
        });
    });

    it('imports no credential from an example or a text', () => {
        const token = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789';
        const imported = importWhole({
            paths: {
                '/a': {
                    get: {
                        ...operation('a'),
                        description: `Send ${token}`,
                        parameters: [{ name: 'q', in: 'query', required: true, example: token, schema: { type: 'string' } }],
                    },
                },
            },
        });
        expect(imported.counts.carried).to.equal(1);
        expect(JSON.stringify(imported)).not.to.include(token);
    });
});

/** Some of these packages export only code, so that `require.resolve` would not find their documents. */
function installed(file: string): string {
    return join(import.meta.dirname, '../../node_modules', file);
}

function operationsOf(document: unknown): string[] {
    const paths = isObject(document) && isObject(document['paths']) ? document['paths'] : {};
    return Object.entries(paths).flatMap(([path, item]) =>
        isObject(item)
            ? Object.keys(item)
                  .filter((key) => METHODS.includes(key))
                  .map((method) => `${method.toUpperCase()} ${path}`)
            : [],
    );
}

function operation(operationId: string): JsonObject {
    return { operationId, responses: { 200: { description: 'Fine', content: { 'application/json': { schema: { type: 'object' } } } } } };
}

function whole(parts: object): JsonObject {
    return { openapi: '3.1.0', info: { title: 'Shop', version: '1' }, servers: [{ url: 'https://api.shop.example' }], ...parts };
}

function importWhole(parts: object): Imported {
    return importDocument(whole(parts));
}

function endpoint({ package: { endpoints } }: Imported, name: string): PackageEndpoint {
    const found = endpoints.find((one) => one.name === name);
    if (found === undefined) throw new Error(`no ${name} among ${endpoints.map((one) => one.name).join(', ')}`);
    return found;
}

function urls({ package: { endpoints } }: Imported): Record<string, string> {
    return Object.fromEntries(endpoints.map(({ name, url }) => [name, url]));
}

function whys({ notCarried }: Imported, scope: string): Record<string, string> {
    return Object.fromEntries(notCarried.filter((one) => one.scope === scope).map(({ where, why }) => [where, why]));
}
