import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { generateApi } from 'swagger-typescript-api';
import { join, type Person, stranger } from '../support/people.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { openWorld, type World } from '../support/world.ts';

const PROGRAM = fileURLToPath(new URL('../fixtures/generated-client/program.txt', import.meta.url));
const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url));

describe('a typed client from a public generator and the OpenAPI document', () => {
    let world: World;
    let shop: Shop;
    let person: Person;
    let folder: string;

    before(async () => {
        shop = await openShop();
        world = await openWorld({ config: { egressHosts: SHOP_HOSTS } });
        person = await join(world);
        folder = await mkdtemp(joinPath(tmpdir(), 'routebook-client-'));
        const spec = (await stranger(world).call('GET', '/v1/openapi.json')).body;
        await mkdir(joinPath(folder, 'src'));
        await generateApi({
            spec: spec as Parameters<typeof generateApi>[0] extends { spec?: infer Spec } ? NonNullable<Spec> : never,
            output: joinPath(folder, 'src'),
            fileName: 'routebook.ts',
            enumStyle: 'const',
            silent: true,
        });
        await copyFile(PROGRAM, joinPath(folder, 'src/program.ts'));
        await symlink(MODULES, joinPath(folder, 'node_modules'));
        await writeFile(joinPath(folder, 'package.json'), '{"type":"module"}');
        await writeFile(joinPath(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: STRICT, include: ['src'] }));
    });
    after(async () => {
        await world?.close();
        await shop?.close();
        await rm(folder, { recursive: true, force: true });
    });

    it('compiles under the strictest options together with a program that uses its types', async () => {
        // The generator's file disables type checks. Here they are enabled.
        const client = joinPath(folder, 'src/routebook.ts');
        await writeFile(client, (await readFile(client, 'utf8')).replace('// @ts-nocheck', ''));
        const { code, output } = await run(bin('typescript', 'tsc'), ['--project', folder]);
        expect(code, output).to.equal(0);
    });

    it('publishes, finds, looks up and fetches, and gets explained errors', async () => {
        const text = JSON.stringify(shopPackage(shop.port));
        const { code, output } = await run(joinPath(folder, 'out/program.js'), [world.base, person.apiKey ?? '', text]);
        expect(code, output).to.equal(0);
        expect(JSON.parse(output)).to.deep.equal({
            published: { site: SHOP, version: 1, change: 'major' },
            found: { total: 1, title: 'Test shop' },
            catalog: { effect: 'read', session: 'ses_' },
            fetched: { data: { id: 7, title: 'Product 7', price: { amount: 10 } }, used: 1, status: 200 },
            refused: { code: 'ENDPOINT_NOT_FOUND', meant: ['product'] },
        });
    });

    it('does not compile if the program misspells a field or a choice', async () => {
        const program = joinPath(folder, 'src/program.ts');
        const text = await readFile(PROGRAM, 'utf8');
        for (const [right, wrong] of [
            ["sort: 'recent'", "sort: 'newest'"],
            ["endpoint: 'product', params", "endpunkt: 'product', params"],
            ['meta.pagination.total', 'meta.pagination.totals'],
        ] as const) {
            await writeFile(program, text.replace(right, wrong));
            const { code } = await run(bin('typescript', 'tsc'), ['--project', folder]);
            expect(code, wrong).not.to.equal(0);
        }
    });
});

const STRICT = {
    strict: true,
    noUncheckedIndexedAccess: true,
    target: 'ES2023',
    lib: ['ES2024', 'DOM', 'DOM.Iterable'],
    module: 'NodeNext',
    moduleResolution: 'NodeNext',
    types: ['node'],
    skipLibCheck: true,
    rewriteRelativeImportExtensions: true,
    rootDir: 'src',
    outDir: 'out',
};

function bin(name: string, program: string): string {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
    return joinPath(manifest, '..', 'bin', program);
}

function run(program: string, args: readonly string[]): Promise<{ code: number; output: string }> {
    return new Promise((done) => {
        execFile(process.execPath, [program, ...args], (error, stdout, stderr) => {
            done({ code: error === null ? 0 : Number(error.code ?? 1), output: `${stdout}${error === null ? '' : stderr}` });
        });
    });
}
