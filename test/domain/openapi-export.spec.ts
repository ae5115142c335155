import { expect } from 'chai';
import fc from 'fast-check';
import { importDocument } from '../../cli/import/import.ts';
import { encodeSegment } from '../../shared/domain/fetch/build-request.ts';
import { exportOpenApi } from '../../shared/domain/package/openapi-export.ts';
import type { Json, JsonObject, PackageDocument, PackageEndpoint, PackageParam } from '../../shared/domain/types.ts';
import { STARTERS } from '../starter/packages.ts';
import { anyPackage } from '../support/any-package.ts';
import { lintOpenApi } from '../support/lint-openapi.ts';
import { goodPackage } from './good-package.ts';
import { endpoint, onePackage, pathParam } from './one-package.ts';

const STAMP = { version: 7, versionHash: 'a'.repeat(64), publishedAt: new Date('2026-01-02T03:04:05.678Z') };
const GENERATED = 40;

interface Parameter {
    name: string;
    in: 'path' | 'query' | 'header';
    required: boolean;
    description?: string;
    schema: JsonObject;
    style?: string;
    explode?: boolean;
}

interface Operation {
    operationId: string;
    servers?: { url: string }[];
    parameters: Parameter[];
    requestBody?: { required: boolean; content: Record<string, { schema: JsonObject }> };
    responses: JsonObject;
    security?: JsonObject[];
}

interface OpenApi {
    servers: [{ url: string }];
    paths: Record<string, Record<string, Operation>>;
}

const openApiOf = (document: PackageDocument) => exportOpenApi(document, STAMP) as unknown as OpenApi;
const operationsOf = (openApi: OpenApi) =>
    Object.entries(openApi.paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
    );
describe('a package as an OpenAPI document', () => {
    it('is valid according to an external tool: for every starter package, and for random valid packages', async () => {
        const generated = fc.sample(anyPackage(), GENERATED).map((document, index) => [`generated ${index}`, document] as const);
        const packages = [...STARTERS.map(({ document }) => [document.site, document] as const), ...generated];
        const found = await lintOpenApi(Object.fromEntries(packages.map(([name, document]) => [name, exportOpenApi(document, STAMP)])));
        const [first] = found;
        const culprit = generated.find(([name]) => first?.startsWith(`${name}:`))?.[1];
        expect(found, JSON.stringify(culprit)).to.deep.equal([]);
    });

    it('is reported as invalid if it is', async () => {
        const { paths } = openApiOf(onePackage(endpoint('get', '/{id}', { params: [pathParam('id')] })));
        const broken = { openapi: '3.1.0', info: { title: 'Broken', version: '1' }, paths: { '/{other}?q=1': paths['/{id}'] ?? {} } };
        expect(await lintOpenApi({ good: exportOpenApi(onePackage(endpoint('get', '/')), STAMP), broken })).not.to.deep.equal([]);
    });

    it('has one operation for each endpoint, with its name, method and host, and with each parameter once', () => {
        fc.assert(
            fc.property(anyPackage(), (document) => {
                const openApi = openApiOf(document);
                const operations = new Map(operationsOf(openApi).map((operation) => [operation.operationId, operation]));
                expect([...operations.keys()]).to.have.members(document.endpoints.map(({ name }) => name));
                for (const { name, method, url } of document.endpoints) {
                    const operation = operations.get(name);
                    if (operation === undefined) throw new Error(`no operation for ${name}`);
                    expect(operation.method).to.equal(method.toLowerCase());
                    expect((operation.servers ?? openApi.servers)[0]?.url).to.equal(new URL(url).origin);
                    const keys = operation.parameters.map((parameter) => `${parameter.in} ${parameter.name}`);
                    expect(new Set(keys).size, keys.join()).to.equal(keys.length);
                    const placed = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, placeholder]) => placeholder);
                    expect(
                        operation.parameters.filter((parameter) => parameter.in === 'path').map((parameter) => parameter.name),
                    ).to.deep.equal(placed);
                    const shape = (text: string) => text.replaceAll(/\{\w+\}/g, '{}');
                    const [path = ''] = url.slice(new URL(url).origin.length).split('?');
                    expect(shape(operation.path.replace(`#${name}`, ''))).to.equal(shape(path));
                }
            }),
            { numRuns: 50 },
        );
    });

    const slashed = (path: string) => path.replaceAll('%2F', '/');

    for (const { document, fixture } of STARTERS) {
        it(`of ${document.site} makes the same requests as the package`, () => {
            const openApi = openApiOf(document);
            const operations = new Map(operationsOf(openApi).map((operation) => [operation.operationId, operation]));
            for (const { endpoint: name, params, request } of fixture.answers) {
                const operation = operations.get(name);
                if (operation === undefined) throw new Error(`no operation for ${name}`);
                const built = requestFor(operation, params);
                // OpenAPI 3.1 cannot say that a value of the path has slashes of its own.
                expect(slashed(built.path), name).to.equal(slashed(request.path));
                const asked = Object.entries(request.query).flatMap(([key, value]) => [value].flat().map((item) => `${key}=${item}`));
                expect(built.query.toSorted(), name).to.deep.equal(asked.toSorted());
            }
        });
    }

    it('separates what OpenAPI would merge: equal method and path, other placeholder names, other hosts', () => {
        const openApi = openApiOf(
            onePackage(
                endpoint('first', '/graphql', { method: 'POST', body: { query: 'a' } }),
                endpoint('second', '/graphql', { method: 'POST', body: { query: 'b' } }),
                endpoint('read', '/graphql'),
                endpoint('by_id', '/things/{id}', { params: [pathParam('id')] }),
                endpoint('by_name', '/things/{name}', { params: [pathParam('name')] }),
                endpoint('elsewhere', '/graphql', { method: 'DELETE', url: 'https://api.shop.example.com/graphql' }),
            ),
        );
        expect(Object.keys(openApi.paths)).to.deep.equal([
            '/graphql',
            '/graphql#second',
            '/things/{id}',
            '/things/{name}#by_name',
            '/graphql#elsewhere',
        ]);
        expect(Object.keys(openApi.paths['/graphql'] ?? {})).to.deep.equal(['post', 'get']);
        expect(openApi.paths['/graphql#elsewhere']?.['delete']?.servers).to.deep.equal([{ url: 'https://api.shop.example.com' }]);
    });

    it('describes the query of the template: fixed, repeated, filled, and params after it', () => {
        const [operation] = operationsOf(
            openApiOf(
                onePackage(
                    endpoint('find', '/{id}/x/{id}?lang=en&tag=a&tag=b&q={term}&sort=by:{term}&page=1&a%26b=c+d', {
                        params: [
                            pathParam('id', { type: 'integer' }),
                            { ...pathParam('term'), required: false, default: 'all' },
                            { name: 'limit', source: 'query', required: false, description: 'How many.' },
                        ],
                        pagination: { param: 'page', start: 1 },
                        headers: { Accept: 'application/json', 'x-app': 'web' },
                    }),
                ),
            ),
        );
        expect(operation?.path).to.equal('/{id}/x/{id_2}');
        const { parameters = [] } = operation ?? {};
        expect(parameters).to.deep.equal([
            { name: 'id', in: 'path', required: true, schema: { type: 'integer' } },
            { name: 'id_2', in: 'path', required: true, schema: { type: 'integer' } },
            { name: 'lang', in: 'query', required: true, schema: { type: 'string', enum: ['en'], default: 'en' } },
            {
                name: 'tag',
                in: 'query',
                required: true,
                schema: { type: 'array', items: { type: 'string' }, enum: [['a', 'b']], default: ['a', 'b'] },
            },
            { name: 'q', in: 'query', required: false, schema: { type: 'string', default: 'all' } },
            {
                name: 'sort',
                in: 'query',
                required: true,
                description: 'Stands in the URL as sort=by:{term}.',
                schema: { type: 'string' },
            },
            { name: 'a&b', in: 'query', required: true, schema: { type: 'string', enum: ['c d'], default: 'c d' } },
            { name: 'limit', in: 'query', required: false, description: 'How many.', schema: { type: ['string', 'number', 'boolean'] } },
            {
                name: 'page',
                in: 'query',
                required: false,
                description: 'Tells the pages apart (page).',
                schema: { type: 'integer', default: 1 },
            },
            { name: 'x-app', in: 'header', required: true, schema: { type: 'string', enum: ['web'], default: 'web' } },
        ]);
    });

    it('describes lists, objects and headers in OpenAPI’s terms', async () => {
        const list = { type: 'array', items: { type: 'string' } };
        const param = (name: string, style: PackageParam['style']): PackageParam => ({
            name,
            source: 'query',
            required: false,
            schema: style === 'deepObject' ? { type: 'object' } : list,
            ...(style === undefined ? {} : { style }),
        });
        const document = onePackage(
            endpoint('find', '/wiki/{title}', {
                headers: { 'x-app': 'web' },
                params: [
                    { ...pathParam('title'), segments: true },
                    ...(['repeat', 'comma', 'brackets', 'space', 'pipe', 'deepObject'] as const).map((style) => param(style, style)),
                    { name: 'bare', source: 'query', required: false, style: 'comma' },
                    {
                        name: 'Accept-Language',
                        source: 'header',
                        required: true,
                        description: 'In this language.',
                        schema: { type: 'string' },
                    },
                ],
            }),
            endpoint('restart', '/restart', {
                method: 'POST',
                params: [{ name: 'hard', source: 'body', required: false }],
                body_required: false,
            }),
        );
        const [find, restart] = operationsOf(openApiOf(document));
        const one = { type: ['string', 'number', 'boolean'] };
        expect(find?.parameters).to.deep.equal([
            { name: 'title', in: 'path', required: true, schema: { type: 'string' }, 'x-routebook': { segments: true } },
            { name: 'repeat', in: 'query', required: false, schema: list },
            { name: 'comma', in: 'query', required: false, schema: list, style: 'form', explode: false },
            { name: 'brackets[]', in: 'query', required: false, schema: list },
            { name: 'space', in: 'query', required: false, schema: list, style: 'spaceDelimited', explode: false },
            { name: 'pipe', in: 'query', required: false, schema: list, style: 'pipeDelimited', explode: false },
            { name: 'deepObject', in: 'query', required: false, schema: { type: 'object' }, style: 'deepObject', explode: true },
            {
                name: 'bare',
                in: 'query',
                required: false,
                schema: { anyOf: [one, { type: 'array', items: one }] },
                style: 'form',
                explode: false,
            },
            { name: 'x-app', in: 'header', required: true, schema: { type: 'string', enum: ['web'], default: 'web' } },
            { name: 'Accept-Language', in: 'header', required: true, description: 'In this language.', schema: { type: 'string' } },
        ]);
        expect(restart?.requestBody).to.include({ required: false });
        expect(await lintOpenApi({ document: exportOpenApi(document, STAMP) })).to.deep.equal([]);
        const imported = importDocument(exportOpenApi(document, STAMP)).package.endpoints;
        const again = (name: string) =>
            imported.find((one) => one.name === name)?.params?.map(({ name, source, style }) => [name, source, style]);
        expect(again('find')).to.deep.equal([
            ['title', 'path', undefined],
            ['repeat', 'query', undefined],
            ['comma', 'query', 'comma'],
            ['brackets[]', 'query', undefined],
            ['space', 'query', 'space'],
            ['pipe', 'query', 'pipe'],
            ['deepObject', 'query', 'deepObject'],
            ['bare', 'query', undefined],
            ['Accept-Language', 'header', undefined],
        ]);
        expect(imported.find(({ name }) => name === 'restart')).to.include({ body_required: false });
    });

    it('describes the authentication, so that an import of it has the same methods', async () => {
        const oauth2 = {
            authorization_url: 'https://shop.example.com/authorize',
            token_url: 'https://shop.example.com/token',
            scopes: [{ name: 'orders', description: 'Reads orders' }],
            flows: ['authorization_code' as const, 'client_credentials' as const],
        };
        const document: PackageDocument = {
            ...onePackage(
                endpoint('mine', '/mine', { auth: 'required', scopes: ['orders'] }),
                endpoint('maybe', '/maybe', { auth: 'optional' }),
                endpoint('open', '/open', { auth: 'none' }),
            ),
            auth: [
                {
                    id: 'key',
                    type: 'header',
                    name: 'X-Api-Key',
                    description: 'From your profile.',
                    obtain_url: 'https://shop.example.com/keys',
                },
                { id: 'in_query', type: 'query', name: 'api_key' },
                { id: 'session', type: 'cookie', name: 'sid' },
                { id: 'login', type: 'basic' },
                { id: 'token', type: 'bearer', hosts: ['elsewhere.example.com'] },
                { id: 'account', type: 'oauth2', oauth2 },
            ],
        };
        const exported = exportOpenApi(document, STAMP);
        expect(exported['components']).to.deep.equal({
            securitySchemes: {
                key: {
                    type: 'apiKey',
                    in: 'header',
                    name: 'X-Api-Key',
                    description: 'From your profile.',
                    'x-routebook': { obtain_url: 'https://shop.example.com/keys' },
                },
                in_query: { type: 'apiKey', in: 'query', name: 'api_key' },
                session: { type: 'apiKey', in: 'cookie', name: 'sid' },
                login: { type: 'http', scheme: 'basic' },
                token: { type: 'http', scheme: 'bearer', 'x-routebook': { hosts: ['elsewhere.example.com'] } },
                account: {
                    type: 'oauth2',
                    flows: {
                        authorizationCode: {
                            authorizationUrl: 'https://shop.example.com/authorize',
                            tokenUrl: 'https://shop.example.com/token',
                            scopes: { orders: 'Reads orders' },
                        },
                        clientCredentials: { tokenUrl: 'https://shop.example.com/token', scopes: { orders: 'Reads orders' } },
                    },
                },
            },
        });
        const security = new Map(operationsOf(exported as unknown as OpenApi).map((one) => [one.operationId, one.security]));
        const needs = (scopes: string[]) => [{ key: [] }, { in_query: [] }, { session: [] }, { login: [] }, { account: scopes }];
        expect(security.get('mine')).to.deep.equal(needs(['orders']));
        expect(security.get('maybe')).to.deep.equal([{}, ...needs([])]);
        expect(security.get('open')).to.deep.equal([]);
        expect(await lintOpenApi({ document: exported })).to.deep.equal([]);
        const again = importDocument(exported).package;
        expect(again.auth?.map(({ id, type, name }) => [id, type, name])).to.deep.equal([
            ['key', 'header', 'X-Api-Key'],
            ['in_query', 'query', 'api_key'],
            ['session', 'cookie', 'sid'],
            ['login', 'basic', undefined],
            ['account', 'oauth2', undefined],
        ]);
        expect(again.auth?.at(-1)?.oauth2).to.deep.equal(oauth2);
        expect(again.endpoints.map(({ name, auth }) => [name, auth ?? 'required'])).to.have.deep.members([
            ['mine', 'required'],
            ['maybe', 'optional'],
            ['open', 'none'],
        ]);
    });

    it('describes bodies: flat, by template, and as forms', () => {
        const body = (name: string, required: boolean, schema?: JsonObject) => ({
            name,
            source: 'body' as const,
            required,
            ...(schema === undefined ? {} : { schema }),
        });
        const bodyOf = (more: Partial<PackageEndpoint>) =>
            operationsOf(openApiOf(onePackage(endpoint('send', '/', { method: 'POST', ...more }))))[0]?.requestBody?.content;
        const params = [body('sku', true, { type: 'string' }), body('note', false)];
        expect(bodyOf({ params })).to.deep.equal({
            'application/json': {
                schema: {
                    type: 'object',
                    properties: { sku: { type: 'string' }, note: {} },
                    required: ['sku'],
                    additionalProperties: false,
                },
            },
        });
        expect(bodyOf({ params, body_format: 'form' })).to.have.nested.property(
            'application/x-www-form-urlencoded.schema.properties.note.type',
        );
        expect(
            bodyOf({ params, body: { op: 'Order', vars: { sku: '{sku}', note: '{note}' }, list: ['{sku}', 1], odd: ['{note}'] } }),
        ).to.deep.equal({
            'application/json': {
                schema: {
                    type: 'object',
                    properties: {
                        op: { const: 'Order' },
                        vars: {
                            type: 'object',
                            properties: { sku: { type: 'string' }, note: {} },
                            required: ['sku'],
                            additionalProperties: false,
                        },
                        list: { type: 'array', prefixItems: [{ type: 'string' }, { const: 1 }], minItems: 2, maxItems: 2 },
                        odd: { type: 'array', items: { anyOf: [{}] }, minItems: 0, maxItems: 1 },
                    },
                    required: ['op', 'vars', 'list', 'odd'],
                    additionalProperties: false,
                },
            },
        });
        const file = { ...body('photo', true, { format: 'file' }), description: 'The picture.' };
        expect(bodyOf({ params: [file, params[1] ?? file], body_format: 'multipart' })).to.deep.equal({
            'multipart/form-data': {
                schema: {
                    type: 'object',
                    properties: {
                        photo: { type: 'string', contentMediaType: 'application/octet-stream', description: 'The picture.' },
                        note: { type: ['string', 'number', 'boolean'] },
                    },
                    required: ['photo'],
                    additionalProperties: false,
                },
            },
        });
        expect(bodyOf({ params: [file], body_format: 'multipart', body: { upload: '{photo}' } })).to.have.nested.property(
            'multipart/form-data.schema.properties.upload.contentMediaType',
        );
        const about = body('about', true, { type: 'string', contentMediaType: 'application/json' });
        expect(bodyOf({ params: [about], body_format: 'multipart', body: { data: '{about}' } })).to.have.nested.property(
            'multipart/form-data.encoding.data.contentType',
            'application/json',
        );
        for (const [format, type] of [
            ['xml', 'application/xml'],
            ['text', 'text/plain'],
            ['ndjson', 'application/x-ndjson'],
        ] as const) {
            const more = { method: 'POST', params: params.slice(0, 1), body_format: format, body: '{sku}' } as const;
            const [operation] = operationsOf(openApiOf(onePackage(endpoint('send', '/', more))));
            expect(operation?.requestBody?.content).to.deep.equal({ [type]: { schema: { type: 'string' } } });
            expect((operation as unknown as { 'x-routebook': JsonObject })['x-routebook']).to.deep.include({
                body: '{sku}',
                body_params: { type: 'object', properties: { sku: { type: 'string' } }, required: ['sku'], additionalProperties: false },
            });
        }
        expect(bodyOf({})).to.equal(undefined);
        expect(bodyOf({ params, headers: { 'Content-Type': 'application/vnd.shop+json' } })).to.have.keys('application/vnd.shop+json');
    });

    it('names the media type that each type of answer is read as', () => {
        const media = (response: object) => {
            const [operation] = operationsOf(openApiOf(onePackage(endpoint('get', '/', { response }))));
            const answer = operation?.responses['2XX'] as unknown as { content: JsonObject } | undefined;
            return Object.keys(answer?.content ?? {});
        };
        expect(media({ type: 'csv' })).to.deep.equal(['text/csv']);
        expect(media({ type: 'xml' })).to.deep.equal(['application/xml']);
        expect(media({ type: 'feed' })).to.deep.equal(['*/*']);
        expect(media({ type: 'ndjson' })).to.deep.equal(['application/x-ndjson']);
        expect(media({ type: 'ndjson', sse: true })).to.deep.equal(['text/event-stream']);
        expect(media({ type: 'binary' })).to.deep.equal(['*/*']);
    });

    it('describes a response only if it is the site’s own', () => {
        const schema = { type: 'object', required: ['id'] };
        const answerOf = (more: Partial<PackageEndpoint>) =>
            (operationsOf(openApiOf(onePackage(endpoint('get', '/', more))))[0]?.responses['2XX'] as JsonObject | undefined)?.['content'];
        expect(answerOf({ response: { type: 'json', schema } })).to.deep.equal({ 'application/json': { schema } });
        for (const selected of [
            { response: { type: 'json' as const, schema, select: { id: 'a' } } },
            { response: { type: 'json' as const, schema: { properties: { items: true } } } },
            { response: { type: 'json' as const, schema }, pagination: { style: 'link' as const } },
        ])
            expect(answerOf(selected)).to.deep.equal({ 'application/json': { schema: {} } });
        expect(answerOf({})).to.deep.equal({ '*/*': { schema: {} } });
        expect(answerOf({ method: 'HEAD' })).to.equal(undefined);
    });

    it('is valid for a package that uses most of the format', async () => {
        const document = goodPackage() as unknown as PackageDocument;
        expect(await lintOpenApi({ good: exportOpenApi(document, STAMP) })).to.deep.equal([]);
        expect(exportOpenApi(document, STAMP)).to.deep.include({
            openapi: '3.1.0',
            info: { title: 'Example Shop', version: '7', description: 'Products and orders.\nTwo lines.' },
            'x-routebook': {
                site: 'shop.example.com',
                intent_category: 'commerce/product-search',
                pace: { requests_per_minute: 600 },
                version: 7,
                version_hash: 'a'.repeat(64),
                published_at: '2026-01-02T03:04:05.678Z',
            },
        });
    });
});

const SEPARATORS: Readonly<Record<string, string>> = { form: ',', spaceDelimited: ' ', pipeDelimited: '|' };

/** A call that a client makes from the document only: the given params, constants and defaults. */
function requestFor({ path, parameters }: Operation & { path: string }, params: JsonObject): { path: string; query: string[] } {
    let filled = path.replace(/#.*$/, '');
    const query: string[] = [];
    for (const { name, in: place, schema, description, style = 'form', explode = true } of parameters) {
        const value = params[name.replace(/_\d$/, '')] ?? params[name] ?? filledIn(description, params) ?? schema['default'];
        if (value === undefined || place === 'header') continue;
        if (place === 'path') filled = filled.replace(`{${name}}`, encodeSegment(String(value)));
        else if (explode) for (const item of [value].flat() as Json[]) query.push(`${name}=${item}`);
        else query.push(`${name}=${[value].flat().join(SEPARATORS[style])}`);
    }
    return { path: new URL(filled, 'https://host.invalid').pathname, query };
}

/** The text around placeholders of the template is in the description. */
function filledIn(description: string | undefined, params: JsonObject): string | undefined {
    const [, template] = /^Stands in the URL as [^=]+=(.*)\.$/.exec(description ?? '') ?? [];
    return template?.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => String(params[name]));
}
