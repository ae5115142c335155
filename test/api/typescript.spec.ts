import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { Routebook } from '../../cli/client/index.ts';
import { exportTypeScript, type SourceFile } from '../../shared/domain/package/typescript-export.ts';
import type { JsonSchema, PackageDocument } from '../../shared/domain/types.ts';
import { STARTERS } from '../starter/packages.ts';
import { join, type Person, stranger } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { openWorld, type World } from '../support/world.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ABOUT = { version: 3, versionHash: 'a'.repeat(64) };

/** The strictest compiler options, in two variants. Without exactOptionalPropertyTypes, a missing field may be `undefined` too. */
const STRICT = {
    target: 'ES2023',
    lib: ['ES2024', 'DOM'],
    module: 'NodeNext',
    types: ['node'],
    typeRoots: [joinPath(ROOT, 'node_modules/@types')],
    paths: { 'routebook/client': [joinPath(ROOT, 'cli/client/index.ts')] },
    strict: true,
    noUncheckedIndexedAccess: true,
    noImplicitOverride: true,
    noImplicitReturns: true,
    noFallthroughCasesInSwitch: true,
    noPropertyAccessFromIndexSignature: true,
    noUnusedLocals: true,
    noUnusedParameters: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
    isolatedModules: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
    exactOptionalPropertyTypes: true,
};

describe('the package of a site as functions in TypeScript', () => {
    let folder: string;
    let world: World;
    let shop: Shop;
    let maker: Person;

    before(async () => {
        folder = await mkdtemp(joinPath(tmpdir(), 'routebook-typescript-'));
        shop = await openShop();
        world = await openWorld({ topology: 'postgres', config: { egressHosts: SHOP_HOSTS } });
        maker = await join(world, { plan: 'enterprise' });
    });
    after(async () => {
        await world.close();
        await shop.close();
        await rm(folder, { recursive: true });
    });

    /** The compiler's errors for these files; empty if there are none. */
    async function compile(name: string, files: readonly SourceFile[], options: object = {}): Promise<string> {
        const at = joinPath(folder, name);
        await mkdir(at);
        await writeFile(joinPath(at, 'package.json'), '{"type":"module"}');
        await writeFile(joinPath(at, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...STRICT, ...options } }));
        for (const { file, source } of files) await writeFile(joinPath(at, file), source);
        return new Promise((resolve) => {
            execFile(joinPath(ROOT, 'node_modules/.bin/tsc'), ['-p', '.'], { cwd: at }, (error, stdout, stderr) =>
                resolve(error === null ? stdout : `${stdout}${stderr}` || error.message),
            );
        });
    }

    it('compiles for every starter package under the compiler’s strictest options', async () => {
        const files = STARTERS.map(({ document }) => exportTypeScript(document, ABOUT));
        expect(await compile('starters', files)).to.equal('');
        for (const [index, { document }] of STARTERS.entries()) {
            const hosted = document.endpoints.filter(({ hosted }) => hosted !== false);
            expect(files[index]?.source.match(/^export function /gm), document.site).to.have.lengthOf(hosted.length);
        }
    });

    it('compiles for packages with awkward names, texts and schemas', async () => {
        const site = 'awkward.test';
        const schemas: JsonSchema[] = [
            true,
            { type: 'object', properties: { ['__proto__']: { type: 'string' }, 'a "b"\n': { description: '*/ alert(1) /*' } } },
            { type: ['array', 'null'], prefixItems: [{ type: 'string' }], items: { not: {} } },
            { enum: ["it's `1` \\", 1e21, -1, null, true, { a: 1 }] },
            { anyOf: [{ const: "'" }, { type: 'object', additionalProperties: { type: 'integer' } }], allOf: [{ type: 'string' }] },
            { type: 'object', properties: {}, additionalProperties: false },
            { type: 'object', properties: { a: { oneOf: [{ required: ['b'] }, { type: 'number' }] } }, patternProperties: { '^x': false } },
        ];
        const names = ['delete', 'default', 'a_b', 'a__b', 'params', 'routebook', 'version', 'fetch', 'call_order', 'eval', 'await'];
        const document = aPackage(site, {
            title: 'A title */ export const broken = ; /*',
            description: '',
            endpoints: names.map((name, index) =>
                anEndpoint(site, {
                    name,
                    description: 'Json, CallValue */ };\n\u2028broken(); //',
                    params: schemas.map((schema, at) => ({ name: `p${at}`, source: 'query', required: at === index % 2, schema })),
                    response: { type: 'json', schema: { type: 'object', properties: { it: schemas[index % schemas.length] ?? true } } },
                }),
            ),
        } as Partial<PackageDocument>);
        const file = exportTypeScript(document as PackageDocument, ABOUT);
        const closed = { ...document, site: 'closed.test', endpoints: [anEndpoint('closed.test', { hosted: false })] } as PackageDocument;
        expect(await compile('awkward', [file, exportTypeScript(closed, ABOUT)])).to.equal('');
        expect(await compile('awkward-loose', [file], { exactOptionalPropertyTypes: false })).to.equal('');
    });

    it('calls the endpoints through the client, with typed params and results', async () => {
        const id = { name: 'id', source: 'path' as const, required: true, schema: { type: 'integer' } };
        const published = await maker.publish({
            ...shopPackage(shop.port),
            endpoints: [
                {
                    name: 'one_product',
                    method: 'GET' as const,
                    url: `http://${SHOP}:${shop.port}/products/{id}`,
                    params: [id],
                    response: { type: 'json', schema: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] } },
                },
            ],
        });
        expect(published.status, JSON.stringify(published.body)).to.equal(201);
        const file = dataOf<SourceFile>(await stranger(world).call('GET', `/v1/schemas/${SHOP}/package?format=typescript`));
        expect(file.file).to.equal(`${SHOP}.ts`);

        const use = (name: string, call: string, rest = '') => ({
            file: `${name}.ts`,
            source: [
                "import { Routebook } from 'routebook/client';",
                `import { oneProduct } from './${file.file}';`,
                `const { data } = await oneProduct(new Routebook({ baseUrl: '' }), ${call});`,
                'const id: number = data.id;',
                `console.log(id${rest});`,
            ].join('\n'),
        });
        expect(await compile('right', [file, use('right', '{ id: 7 }')])).to.equal('');
        const faults = [
            use('wrong-param', '{ id: true }'),
            use('no-param', '{}'),
            use('other-param', '{ id: 7, page: 2 }'),
            use('wrong-field', '{ id: 7 }', ', data.price'),
        ];
        const said = await compile('wrong', [file, ...faults]);
        expect(said)
            .to.match(/^wrong-param.*'boolean' is not assignable/m)
            .and.match(/^no-param.*'id' is missing/m);
        expect(said)
            .to.match(/^other-param.*'page' does not exist/m)
            .and.match(/^wrong-field.*'price' does not exist/m);

        const { oneProduct } = (await import(pathToFileURL(joinPath(folder, 'right', file.file)).href)) as {
            oneProduct(routebook: Routebook, params: { id: number }): Promise<{ data: unknown }>;
        };
        const { data } = await oneProduct(new Routebook({ apiKey: maker.apiKey ?? '', baseUrl: world.base }), { id: 7 });
        expect(data).to.include({ id: 7 });
    });
});
