import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { exportPython } from '../../shared/domain/package/python-export.ts';
import type { Json, JsonObject, JsonSchema, PackageDocument } from '../../shared/domain/types.ts';
import { STARTERS } from '../starter/packages.ts';
import { join, stranger } from '../support/people.ts';
import { installPythonClient, type PythonClient } from '../support/python.ts';
import { dataOf } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { openSite } from '../support/sites.ts';
import { needs } from '../support/system-programs.ts';
import { openWorld, type World } from '../support/world.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const ABOUT = { version: 3, versionHash: 'a'.repeat(64) };

describe('the client for Python', () => {
    let folder: string;
    let python: PythonClient;
    let world: World;
    let shop: Shop;

    before(async function () {
        needs(this, 'python');
        folder = mkdtempSync(joinPath(tmpdir(), 'routebook-python-'));
        python = await installPythonClient(folder);
        shop = await openShop();
        world = await openWorld({ config: { egressHosts: SHOP_HOSTS } });
        dataOf(await (await join(world)).publish(shopPackage(shop.port)));
    });
    after(async () => {
        await world?.close();
        await shop?.close();
        if (folder !== undefined) rmSync(folder, { recursive: true });
    });

    it('writes typed functions for a site into a program', async () => {
        const out = joinPath(folder, 'program');
        const env = { ROUTEBOOK_URL: world.base };
        const path = (await python.run(['-m', 'routebook', 'add', SHOP, '--out', out], { env })).trim();
        expect(path).to.equal(joinPath(out, 'shop_test.py'));
        const missing = await python.run(['-m', 'routebook', 'add', 'nowhere.test', '--out', out], { env }).then(
            () => '',
            (error: Error) => error.message,
        );
        expect(missing).to.include('routebook: SITE_NOT_FOUND');
        const file = dataOf<{ file: string; source: string }>(
            await stranger(world).call('GET', `/v1/schemas/${SHOP}/package?format=python`),
        );
        expect(file.file).to.equal('shop_test.py');
    });

    it('has functions for every starter package that accept its examples and return its types', async () => {
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
        await python.run(['-W', 'error', '-m', 'py_compile', ...files.map(({ path }) => path)]);
        const results = JSON.parse(await python.run([joinPath(HERE, 'generated.py')], { input: JSON.stringify(files) })) as {
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

    it('stops at a list that has no end', async () => {
        const pages = { '/v1/schemas': { data: [{}], next: 'again' }, '/v1/batches': { data: [], next: 'other' } };
        const site = await openSite((request, response) => {
            const { data, next } = pages[new URL(request.url ?? '', 'http://server').pathname as keyof typeof pages];
            response.end(JSON.stringify({ success: true, data, meta: { pagination: { limit: 1, next_cursor: next, total: 1 } } }));
        });
        const program = `
from routebook import Routebook, RoutebookError
client = Routebook("http://127.0.0.1:${site.port}", "rb_live_test")
for items in (client.schemas(), client.batches.list()):
    try:
        print(len(list(items)))
    except RoutebookError as error:
        print(error.code)
`;
        try {
            expect(await python.run(['-c', program])).to.equal('INVALID_ANSWER\nINVALID_ANSWER\n');
        } finally {
            await site.close();
        }
        expect(site.seen).to.have.length(3);
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
        const [first, second] = JSON.parse(await python.run(['-W', 'error', joinPath(HERE, 'generated.py')], { input })) as {
            asked: JsonObject;
            typed: Json;
        }[];
        expect(first?.asked['params']).to.deep.equal({ 'x[]': 3, from: 'a', order: 'b' });
        expect(first?.typed).to.deep.equal({ it: { 'from"\n': 'f', class: 1, __init__: null, field: 2, 'x-y': null, str: null } });
        expect(second?.typed).to.deep.equal({ it: { a: { it: [1] } } });
    });

    it('generates functions quickly, also for thousands of names that are equal in Python', () => {
        const named = (count: number) => {
            const names = Array.from({ length: count }, (_, at) => String.fromCodePoint(0x4e00 + at));
            const schema = { type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])) };
            const endpoints = [anEndpoint('many.test', { response: { type: 'json', schema: schema as JsonSchema } })];
            return exportPython(aPackage('many.test', { endpoints }) as PackageDocument, ABOUT).source;
        };
        expect(named(8000).length).to.be.below(9 * named(1000).length);
    });

    /** Every field of the types is unchanged; fields that the package does not name are ignored. */
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

    /** Names of params in the functions. */
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
