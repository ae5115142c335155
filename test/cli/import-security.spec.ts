import { expect } from 'chai';
import { type Imported, importDocument } from '../../cli/import/import.ts';
import type { JsonObject, PackageEndpoint } from '../../shared/domain/types.ts';
import { faultsOf, requestFor } from './import/requests.ts';

const FINE = { responses: { 200: { description: '', content: { 'application/json': { schema: { type: 'object' } } } } } };

describe('routebook import, of authentication methods', () => {
    it('imports keys in headers, queries and cookies, and tokens, as entries of auth', () => {
        const imported = documentWith({
            header: { type: 'apiKey', in: 'header', name: 'X-Api-Key', description: 'From your account page.' },
            query: { type: 'apiKey', in: 'query', name: 'api_key' },
            session: { type: 'apiKey', in: 'cookie', name: 'sid' },
            basicAuth: { type: 'http', scheme: 'Basic' },
            bearerAuth: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
            token: { type: 'apiKey', in: 'header', name: 'Authorization', description: 'Send `Authorization: Token <your token>`.' },
        });
        expect(imported.package.auth).to.deep.equal([
            { id: 'header', description: 'From your account page.', type: 'header', name: 'X-Api-Key' },
            { id: 'query', type: 'query', name: 'api_key' },
            { id: 'session', type: 'cookie', name: 'sid' },
            { id: 'basic_auth', type: 'basic' },
            { id: 'bearer_auth', type: 'bearer' },
            {
                id: 'token',
                description: 'Send `Authorization: Token <your token>`.',
                type: 'header',
                name: 'Authorization',
                prefix: 'Token ',
            },
        ]);
        expect(faultsOf(imported.package)).to.deep.equal([]);
        expect(needs(imported)).to.deep.equal(Object.fromEntries(imported.package.endpoints.map(({ name }) => [name, 'required'])));
        expect(imported.package.endpoints.filter(({ hosted }) => hosted === false)).to.deep.equal([]);
    });

    it('imports OAuth with its scopes if tokens are granted on the domain, and as a bearer token otherwise', () => {
        const oauth = (host: string, flow = 'authorizationCode') => ({
            type: 'oauth2',
            flows: {
                [flow]: {
                    authorizationUrl: `https://${host}/authorize`,
                    tokenUrl: `https://${host}/token`,
                    scopes: { read: 'Read things.', write: '' },
                },
            },
        });
        const own = documentWith({ oauth: oauth('login.shop.example') }, { oauth: ['read', 'extra'] });
        expect(own.package.auth).to.deep.equal([
            {
                id: 'oauth',
                type: 'oauth2',
                oauth2: {
                    authorization_url: 'https://login.shop.example/authorize',
                    token_url: 'https://login.shop.example/token',
                    flows: ['authorization_code'],
                    scopes: [{ name: 'read', description: 'Read things.' }, { name: 'write' }, { name: 'extra' }],
                },
            },
        ]);
        expect(own.package.endpoints[0]?.scopes).to.deep.equal(['read', 'extra']);
        expect(faultsOf(own.package)).to.deep.equal([]);
        for (const [scheme, why] of [
            [oauth('login.elsewhere.example'), /login\.elsewhere\.example, which is not on shop\.example/],
            [oauth('login.shop.example', 'implicit'), /only the OAuth flows authorization code/],
            [{ type: 'openIdConnect', openIdConnectUrl: 'https://shop.example/.well-known' }, /described in another document/],
        ] as const) {
            const other = documentWith({ login: scheme });
            expect(other.package.auth).to.deep.equal([{ id: 'login', type: 'bearer' }]);
            expect(other.notCarried.find(({ where }) => where === 'security login')?.why).to.match(why);
        }
    });

    it('distinguishes required, optional and none, and leaves auth out if nothing needs it', () => {
        const imported = importDocument({
            ...whole({ key: { type: 'apiKey', in: 'header', name: 'X-Key' } }),
            security: [{ key: [] }],
            paths: {
                '/a': { get: { operationId: 'a', ...FINE } },
                '/b': { get: { operationId: 'b', security: [{}, { key: [] }], ...FINE } },
                '/c': { get: { operationId: 'c', security: [], ...FINE } },
                '/me': { get: { operationId: 'getMe', ...FINE } },
            },
        });
        expect(needs(imported)).to.deep.equal({ a: 'required', b: 'optional', c: 'none', get_me: 'required' });
        const open = documentWith({ key: { type: 'apiKey', in: 'header', name: 'X-Key' } }, {});
        expect(open.package.auth).to.equal(undefined);
        expect(open.package.endpoints[0]).not.to.have.property('auth');
    });

    it('lists what it cannot send, and makes such operations described only', () => {
        const signed = { type: 'apiKey', in: 'header', name: 'Authorization', 'x-amazon-apigateway-authtype': 'awsSigv4' };
        const imported = documentWith({
            signed,
            digest: { type: 'http', scheme: 'digest' },
            tls: { type: 'mutualTLS' },
        });
        expect(imported.package.auth).to.equal(undefined);
        expect(imported.package.endpoints.map(({ hosted }) => hosted)).to.deep.equal([false, false, false]);
        expect(imported.notCarried.filter(({ scope }) => scope === 'document').map(({ where }) => where)).to.include.members([
            'security signed',
            'security digest',
            'security tls',
        ]);
        const both = documentWith(
            { id: { type: 'apiKey', in: 'header', name: 'X-Id' }, key: { type: 'apiKey', in: 'header', name: 'X-Key' } },
            { id: [], key: [] },
        );
        expect(both.notCarried.map(({ why }) => why)).to.include(
            'It needs id and key at once, but a call sends one credential. Callers must send it themselves (hosted: false).',
        );
    });

    it('makes no param of a credential, and recognises one that is only a header parameter', () => {
        const imported = importDocument({
            ...whole({ key: { type: 'apiKey', in: 'query', name: 'key' } }),
            paths: {
                '/a': {
                    get: {
                        operationId: 'a',
                        security: [{ key: [] }],
                        parameters: [
                            { name: 'key', in: 'query', required: true, schema: { type: 'string' } },
                            { name: 'q', in: 'query', schema: { type: 'string' } },
                        ],
                        ...FINE,
                    },
                },
                '/b': {
                    get: {
                        operationId: 'b',
                        parameters: [{ name: 'X-Auth-Token', in: 'header', required: true, schema: { type: 'string' } }],
                        ...FINE,
                    },
                },
            },
        });
        expect(faultsOf(imported.package)).to.deep.equal([]);
        expect(requestFor(imported.package, 'a', { q: 'x' }).url).to.equal('https://api.shop.example/a?q=x');
        expect(imported.package.auth?.map(({ type, name }) => [type, name])).to.deep.equal([
            ['query', 'key'],
            ['header', 'X-Auth-Token'],
        ]);
        expect(needs(imported)).to.deep.equal({ a: 'required', b: 'required' });
    });

    it('has a connection hold a cookie that an operation requires, and lists the other cookies', () => {
        const cookie = (name: string, required: boolean) => ({
            name,
            in: 'cookie',
            required,
            description: `The ${name}.`,
            schema: { type: 'string' },
        });
        const imported = importDocument({
            ...whole({}),
            paths: {
                '/a': { get: { operationId: 'a', parameters: [cookie('sid', true), cookie('theme', false)], ...FINE } },
                '/b': { get: { operationId: 'b', parameters: [cookie('theme', false)], ...FINE } },
                '/c': { get: { operationId: 'c', parameters: [cookie('sid', true), cookie('csrf', true)], ...FINE } },
            },
        });
        expect(faultsOf(imported.package)).to.deep.equal([]);
        expect(imported.package.auth).to.deep.equal([{ id: 'sid', type: 'cookie', name: 'sid', description: 'The sid.' }]);
        expect(needs(imported)).to.deep.equal({ a: 'required', b: 'none', c: 'none' });
        expect(imported.package.endpoints.map(({ hosted }) => hosted)).to.deep.equal([undefined, undefined, false]);
        expect(imported.notCarried.map(({ where, why }) => `${where}: ${why}`)).to.deep.equal([
            'GET /a, theme: A package contains no cookies.',
            'GET /b, theme: A package contains no cookies.',
            'GET /c, sid: A package contains no cookies.',
            'GET /c, csrf: A package contains no cookies.',
            'GET /c, security: It needs sid and csrf, but a call sends one credential. Callers must send it themselves (hosted: false).',
        ]);
    });

    it('names an endpoint about the current user as the test of a credential', () => {
        const imported = importDocument({
            ...whole({ key: { type: 'http', scheme: 'bearer' } }),
            security: [{ key: [] }],
            paths: { '/a': { get: { operationId: 'list', ...FINE } }, '/me': { get: { operationId: 'me', ...FINE } } },
        });
        expect(imported.package.auth).to.deep.equal([{ id: 'key', type: 'bearer', test: 'me' }]);
        expect(faultsOf(imported.package)).to.deep.equal([]);
    });
});

/** One operation for each scheme, or one that needs `needed`. */
function documentWith(schemes: JsonObject, needed?: JsonObject): Imported {
    const alternatives = needed === undefined ? Object.keys(schemes).map((name) => ({ [name]: [] })) : [needed];
    const paths = Object.fromEntries(
        alternatives.map((need, at) => [`/x${at}`, { get: { operationId: `x${at}`, security: [need], ...FINE } }]),
    );
    return importDocument({ ...whole(schemes), paths });
}

function whole(securitySchemes: JsonObject): JsonObject {
    return {
        openapi: '3.1.0',
        info: { title: 'Shop', version: '1' },
        servers: [{ url: 'https://api.shop.example' }],
        components: { securitySchemes },
    };
}

function needs({ package: { endpoints } }: Imported): Record<string, PackageEndpoint['auth']> {
    return Object.fromEntries(endpoints.map(({ name, auth }) => [name, auth]));
}
