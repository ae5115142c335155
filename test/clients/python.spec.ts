import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { exportPython } from '../../shared/domain/package/python-export.ts';
import type { Json, JsonObject, JsonSchema, PackageDocument } from '../../shared/domain/types.ts';
import { STARTERS } from '../starter/packages.ts';
import { untilIndexed } from '../support/find.ts';
import { join, stranger } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { openSite, type Site } from '../support/sites.ts';
import { needs } from '../support/system-programs.ts';
import { openWorld, type World } from '../support/world.ts';

const PYTHON = '/usr/bin/python3';
const CLIENT = fileURLToPath(new URL('../../clients/python', import.meta.url));
const HERE = fileURLToPath(new URL('.', import.meta.url));
const ABOUT = { version: 3, versionHash: 'a'.repeat(64) };

describe('the client for Python', function () {
    this.timeout(120_000);
    let folder: string;
    let python: string;
    let world: World;
    let shop: Shop;
    const servers: Site[] = [];

    before(async function () {
        needs(this, 'python');
        folder = mkdtempSync(joinPath(tmpdir(), 'routebook-python-'));
        python = await install();
        shop = await openShop();
        world = await openWorld({ config: { egressHosts: SHOP_HOSTS } });
    });
    after(async () => {
        for (const server of servers) await server.close();
        await world?.close();
        await shop?.close();
        if (folder !== undefined) rmSync(folder, { recursive: true });
    });

    /** Builds the wheel and installs it in an empty environment; resolves with that one's Python. */
    async function install(): Promise<string> {
        const source = joinPath(folder, 'source');
        await run('cp', ['-r', CLIENT, source]);
        await run(PYTHON, ['-m', 'pip', 'wheel', '--no-build-isolation', '--no-deps', '--no-index', '-q', '-w', folder, source]);
        const [wheel = ''] = readdirSync(folder).filter((file) => file.endsWith('.whl'));
        expect(wheel).to.match(/^routebook-[\d.]+-py3-none-any\.whl$/);
        await run(PYTHON, ['-m', 'venv', joinPath(folder, 'venv')]);
        const own = joinPath(folder, 'venv/bin/python');
        await run(own, ['-m', 'pip', 'install', '--no-index', '-q', joinPath(folder, wheel)]);
        return own;
    }

    function run(
        program: string,
        args: readonly string[],
        { input = '', env = {} }: { input?: string; env?: object } = {},
    ): Promise<string> {
        return new Promise((resolve, reject) => {
            const options = { env: { PATH: process.env['PATH'], HOME: folder, ...env }, maxBuffer: 64e6 };
            const child = execFile(program, args, options, (error, stdout, stderr) => {
                if (error === null) resolve(stdout);
                else reject(new Error(`${program} ${args.join(' ')}\n${stdout}${stderr}`));
            });
            child.stdin?.on('error', () => {}).end(input);
        });
    }

    const json = (response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}) =>
        void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

    async function serverThat(answer: (response: ServerResponse, turn: number, key: string) => void): Promise<string> {
        let turn = 0;
        const site = await openSite((request, response) => answer(response, ++turn, String(request.headers['idempotency-key'])));
        servers.push(site);
        return `http://127.0.0.1:${site.port}`;
    }

    it('is built as a wheel, installed where nothing else is, and does what its users do', async () => {
        const maker = await join(world, { plan: 'enterprise' });
        const gone = { ...anEndpoint(SHOP, { name: 'gone', params: [] }), url: `http://${SHOP}:${shop.port}/status/404` };
        const document = shopPackage(shop.port);
        dataOf(await maker.publish({ ...document, endpoints: [...document.endpoints, gone] }));
        dataOf(await maker.publish(aPackage('other.test')));
        await untilIndexed(world);
        const busy = { code: 'SERVICE_UNAVAILABLE', message: 'Busy.', status: 503, fault: 'service', retryable: true };
        const keys = new Set<string>();
        const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
        const body = JSON.stringify({ type: 'job.succeeded', timestamp: new Date().toISOString(), data: {} });
        const sentAt = new Date();
        const given = {
            site: SHOP,
            flaky: await serverThat((response, turn, key) => {
                keys.add(key);
                if (turn === 1) json(response, 503, { success: false, error: busy }, { 'retry-after': '0' });
                else if (turn === 2) response.destroy();
                else json(response, 200, { success: true, data: { turn }, meta: {} });
            }),
            refusing: await serverThat((response) =>
                json(response, 403, {
                    success: false,
                    error: { ...busy, code: 'FORBIDDEN', status: 403, fault: 'caller', retryable: false },
                }),
            ),
            slow: await serverThat(() => {}),
            page: await serverThat((response) => void response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>')),
            webhook: {
                secret,
                body,
                headers: {
                    'Webhook-Id': 'evt_1',
                    'Webhook-Timestamp': String(Math.floor(sentAt.getTime() / 1000)),
                    'Webhook-Signature': new Webhook(secret).sign('evt_1', sentAt, body),
                },
            },
        };
        const env = { ROUTEBOOK_URL: world.base, ROUTEBOOK_API_KEY: maker.apiKey };
        const told = JSON.parse(await run(python, [joinPath(HERE, 'story.py')], { input: JSON.stringify(given), env })) as JsonObject;

        expect(told['where'], 'the installed one').to.match(/site-packages\/routebook$/);
        expect(told['fetch']).to.deep.equal({ data: { id: 7, title: 'Product 7', price: { amount: 10 } }, credits_used: 1 });
        expect(told['missing']).to.include({ code: 'ENDPOINT_NOT_FOUND', retryable: false, request: true });
        expect(told['invalid']).to.deep.include({ code: 'INVALID_PARAMS' });
        expect((told['invalid'] as { details: { path: string }[] }).details[0]?.path).to.equal('/params/id');
        expect((told['upstream'] as { upstream: JsonObject }).upstream).to.include({ status: 404 });
        expect(told['sites'], 'page by page').to.deep.equal(['other.test', SHOP]);
        expect(told['find']).to.include('product');
        expect(told['account']).to.equal('enterprise');
        expect(told['job']).to.include({ id: 8 });
        expect(told['failed_job']).to.include({ code: 'UPSTREAM_STATUS' });
        expect(told['batch']).to.deep.equal({ p1: 1, p2: 2, p3: 3, p4: 4, p5: 5 });

        expect(told['retried'], 'after a refusal and a lost answer').to.deep.equal({ turn: 3 });
        expect(keys.size, 'one key').to.equal(1);
        expect(told['refused']).to.include({ code: 'FORBIDDEN', fault: 'caller', has_key: true });
        expect(told['slow']).to.include({ code: 'TIMEOUT', retryable: true, has_key: true });
        expect(told['nobody']).to.include({ code: 'NETWORK_ERROR' });
        expect(told['page']).to.include({ code: 'INVALID_ANSWER', retryable: true });

        expect(told['webhook']).to.equal('job.succeeded');
        expect(told['forged']).to.equal('no signature fits');
        expect(told['several']).to.deep.equal([1, 2, 3]);
        expect(told['async_job']).to.equal(9);
        expect(told['async_sites']).to.have.members(['other.test', SHOP]);
    });

    it('writes typed functions for a site into a program', async () => {
        const out = joinPath(folder, 'program');
        const env = { ROUTEBOOK_URL: world.base };
        const path = (await run(python, ['-m', 'routebook', 'add', SHOP, '--out', out], { env })).trim();
        expect(path).to.equal(joinPath(out, 'shop_test.py'));
        const missing = await run(python, ['-m', 'routebook', 'add', 'nowhere.test', '--out', out], { env }).then(
            () => '',
            (error: Error) => error.message,
        );
        expect(missing).to.include('routebook: SITE_NOT_FOUND');
        const file = dataOf<{ file: string; source: string }>(
            await stranger(world).call('GET', `/v1/schemas/${SHOP}/package?format=python`),
        );
        expect(file.file).to.equal('shop_test.py');
    });

    it('has functions for every starter package that take its examples and answer in its types', async () => {
        const at = joinPath(folder, 'starters');
        mkdirSync(at);
        const files = STARTERS.map(({ document, fixture }) => {
            const { file, source } = exportPython(document, ABOUT);
            writeFileSync(joinPath(at, file), source);
            const hosted = document.endpoints.filter((endpoint) => endpoint.hosted !== false);
            expect(source.match(/^def /gm), document.site).to.have.lengthOf(hosted.length);
            const samples = fixture.answers
                .filter(({ endpoint }) => hosted.some(({ name }) => name === endpoint))
                .map(({ endpoint, params, expect: data }) => ({ function: endpoint, data, params, arguments: argumentsOf(params) }));
            return { path: joinPath(at, file), site: document.site, samples };
        });
        await run(python, ['-W', 'error', '-m', 'py_compile', ...files.map(({ path }) => path)]);
        const results = JSON.parse(await run(python, [joinPath(HERE, 'generated.py')], { input: JSON.stringify(files) })) as {
            asked: JsonObject;
            raw: Json;
            typed: Json;
        }[];
        const samples = files.flatMap(({ site, samples: own }) => own.map((sample) => ({ site, ...sample })));
        expect(samples.length).to.be.greaterThan(100);
        for (const [place, { site, function: name, params, data }] of samples.entries()) {
            const { asked, raw, typed } = results[place] as (typeof results)[number];
            expect(asked, `${site} ${name}`).to.deep.equal({ site, endpoint: name, params, version: ABOUT.versionHash });
            expect(raw).to.deep.equal(data);
            expect(namedIn(typed, data), `${site} ${name}`).to.equal(true);
        }
    });

    it('has functions for packages with awkward names, texts and schemas', async () => {
        const site = 'awkward.test';
        const schemas: JsonSchema[] = [
            true,
            {
                type: 'object',
                properties: {
                    'from"\n': { type: 'string' },
                    class: { description: '""" \\' },
                    __init__: true,
                    field: {},
                    'x-y': {},
                    str: {},
                },
            },
            { type: ['array', 'null'], prefixItems: [{ type: 'string' }], items: { not: {} } },
            { enum: ["it's `1` \\", -1, null, true] },
            { enum: [{ a: 1 }, 1e21] },
            { anyOf: [{ const: '"' }, { type: 'object', additionalProperties: { type: 'integer' } }] },
            { allOf: [{ type: 'object', properties: { a: { type: 'string' } } }, { properties: { b: { type: 'number' } } }] },
            { type: 'object', properties: { a: { oneOf: [{ type: 'null' }, { type: 'object', properties: { it: { type: 'array' } } }] } } },
        ];
        const names = ['delete', 'def', 'a_b', 'a__b', 'routebook', 'version', 'lambda', 'call', 'result'];
        const document = aPackage(site, {
            title: 'A title """ \\',
            endpoints: names.map((name, index) =>
                anEndpoint(site, {
                    name,
                    description: '"""\nimport os; os.abort()\n"""\\',
                    params: [
                        { name: 'from', source: 'query', required: false, description: 'a\n"""b', schema: { type: 'string' } },
                        { name: 'x[]', source: 'query', required: true, schema: { type: 'integer' } },
                        { name: 'order', source: 'query', required: false, schema: schemas[index % schemas.length] ?? true },
                    ],
                    response: { type: 'json', schema: { type: 'object', properties: { it: schemas[index % schemas.length] ?? true } } },
                }),
            ),
        } as Partial<PackageDocument>) as PackageDocument;
        const { file, source } = exportPython(document, ABOUT);
        const path = joinPath(folder, file);
        writeFileSync(path, source);
        const sample = (name: string, data: Json) => ({ function: name, data, arguments: { x_: 3, from_: 'a', order_: 'b' } });
        const input = JSON.stringify([
            { path, samples: [sample('def_', { it: { 'from"\n': 'f', class: 1, field: 2 } }), sample('call', { it: { a: { it: [1] } } })] },
        ]);
        const [first, second] = JSON.parse(await run(python, ['-W', 'error', joinPath(HERE, 'generated.py')], { input })) as {
            asked: JsonObject;
            typed: Json;
        }[];
        expect(first?.asked['params']).to.deep.equal({ 'x[]': 3, from: 'a', order: 'b' });
        expect(first?.typed).to.deep.equal({ it: { 'from"\n': 'f', class: 1, __init__: null, field: 2, 'x-y': null, str: null } });
        expect(second?.typed).to.deep.equal({ it: { a: { it: [1] } } });
    });

    it('has functions soon, also for thousands of names that are one in letters of Python', () => {
        const named = (count: number) => {
            const names = Array.from({ length: count }, (_, at) => String.fromCodePoint(0x4e00 + at));
            const schema = { type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])) };
            const endpoints = [anEndpoint('many.test', { response: { type: 'json', schema: schema as JsonSchema } })];
            return exportPython(aPackage('many.test', { endpoints }) as PackageDocument, ABOUT).source;
        };
        expect(named(8000).length).to.be.below(9 * named(1000).length);
    });

    /** Every field that the types name is there as it came; fields that the package does not name are left out. */
    function namedIn(typed: Json, data: Json): boolean {
        if (Array.isArray(typed))
            return Array.isArray(data) && typed.length === data.length && typed.every((item, at) => namedIn(item, data[at] as Json));
        if (typeof typed === 'object' && typed !== null) {
            const values = data as JsonObject;
            return Object.entries(typed).every(([name, value]) =>
                values[name] === undefined ? value === null : namedIn(value as Json, values[name]),
            );
        }
        return typed === data;
    }

    /** Names of params as the functions write them. */
    function argumentsOf(params: JsonObject): JsonObject {
        const keywords = new Set(['from', 'in', 'is', 'class', 'global', 'lambda', 'order', 'routebook', 'not', 'or', 'and', 'if']);
        return Object.fromEntries(
            Object.entries(params).map(([name, value]) => {
                const plain = name.replaceAll(/[^A-Za-z0-9_]+/g, '_').replace(/^_+/, '');
                return [keywords.has(plain) ? `${plain}_` : plain, value];
            }),
        );
    }
});
