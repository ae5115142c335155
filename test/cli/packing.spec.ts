import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join as joinPath } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { join, type Person } from '../support/people.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { needs } from '../support/system-programs.ts';
import { openWorld, type World } from '../support/world.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SOURCES = ['cli', 'clients/javascript', 'shared', 'workers', 'package.json', 'tsconfig.json'];
const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Record<string, Record<string, string>>;

describe('the published package', function () {
    this.timeout(300_000);
    let folder: string;
    let home: string;
    let world: World;
    let shop: Shop;
    let ada: Person;

    before(async function () {
        needs(this, 'npx');
        folder = mkdtempSync(joinPath(tmpdir(), 'routebook-packing-'));
        await installPacked(folder);
        home = joinPath(folder, 'home');
        shop = await openShop();
        world = await openWorld({ config: { egressHosts: SHOP_HOSTS } });
        ada = await join(world);
    });

    after(async () => {
        await world?.close();
        await shop?.close();
        if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    });

    /** Packs a copy, so that nothing is built in the project, and installs the tarball in an empty folder. */
    async function installPacked(at: string): Promise<void> {
        const copy = joinPath(at, 'copy');
        for (const name of SOURCES) {
            cpSync(joinPath(ROOT, name), joinPath(copy, name), {
                recursive: true,
                filter: (path) => !/node_modules|(cli|javascript)\/dist/.test(path),
            });
        }
        symlinkSync(joinPath(ROOT, 'node_modules'), joinPath(copy, 'node_modules'));
        await npm(copy, 'pack', '-w', 'cli', '--pack-destination', at);
        const tarball = readdirSync(at).find((name) => name.endsWith('.tgz')) ?? '';
        const empty = joinPath(at, 'empty');
        mkdirSync(empty);
        writeFileSync(joinPath(empty, 'package.json'), '{ "private": true, "type": "module" }');
        await npm(empty, 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', joinPath('..', tarball));
    }

    async function npm(cwd: string, ...args: string[]): Promise<string> {
        // Below `npm test`, the settings of that run would make npm use the project itself.
        const kept = Object.entries(process.env).filter(([name]) => !/^npm_(config_local_prefix|lifecycle|package|command)/.test(name));
        const env = { ...Object.fromEntries(kept), PATH: `${dirname(process.execPath)}:${process.env['PATH']}` };
        return (await run('npm', args, { cwd, env, maxBuffer: 1e8 })).stdout;
    }

    /** Runs a program in the folder where the tarball was installed, without access to the project. */
    async function there(program: string, args: string[], more: Record<string, string> = {}): Promise<string> {
        const env = { PATH: `${dirname(process.execPath)}:${process.env['PATH']}`, HOME: home, ...more };
        return (await run(program, args, { cwd: joinPath(folder, 'empty'), env })).stdout;
    }

    it('contains the command line and the client, and nothing of the server', () => {
        const installed = joinPath(folder, 'empty/node_modules');
        const own = readdirSync(joinPath(installed, 'routebook'), { recursive: true, encoding: 'utf8' });
        expect(own.filter((name) => /\.ts$/.test(name) && !/\.d\.ts$/.test(name))).to.deep.equal([]);
        expect(own.filter((name) => /^dist\/(api|bin|migrations|test|shared\/store)(\/|$)/.test(name))).to.deep.equal([]);
        for (const name of ['knex', 'pg', 'bullmq', 'ioredis', 'joi', '@hapi', 'stripe', 'typescript']) {
            expect(existsSync(joinPath(installed, name)), name).to.equal(false);
        }
    });

    it('has the version of the server, and the same versions of its libraries', () => {
        const server = readJson(joinPath(ROOT, 'package.json'));
        const command = readJson(joinPath(ROOT, 'cli/package.json'));
        expect(command['version']).to.equal(server['version']);
        const shared = Object.entries(command['dependencies'] ?? {}).filter(([name]) => name in (server['dependencies'] ?? {}));
        expect(shared.length).to.be.greaterThan(5);
        for (const [name, version] of shared) expect(version, name).to.equal(server['dependencies']?.[name]);
    });

    it('runs by npx', async () => {
        const help = await there('npx', ['routebook', '--help']);
        expect(help).to.include('Usage: npx routebook').and.include('publish a package');
        expect((await there('npx', ['routebook', '--version'])).trim()).to.equal(
            String(readJson(joinPath(ROOT, 'package.json'))['version']),
        );
    });

    it('lints, tries, publishes and fetches', async () => {
        const examples = shopPackage(shop.port).endpoints.filter(({ name }) => ['product', 'page_items'].includes(name));
        const endpoints = examples.map((endpoint) => ({
            ...endpoint,
            examples: [{ params: endpoint.name === 'product' ? { id: 1 } : {} }],
        }));
        const file = joinPath(folder, 'empty', 'shop.json');
        writeFileSync(file, JSON.stringify(shopPackage(shop.port, { endpoints })));
        const env = {
            ROUTEBOOK_URL: world.base,
            ROUTEBOOK_API_KEY: ada.apiKey ?? '',
            EGRESS_ALLOW: `127.0.0.1/32:${shop.port}`,
            EGRESS_HOSTS: `${SHOP}=127.0.0.1`,
        };
        const routebook = async (...args: string[]) => JSON.parse(await there('npx', ['routebook', ...args, '--json'], env));
        expect(await routebook('lint', 'shop.json')).to.include({ ok: true });
        // JSON is read in the process, HTML in a worker thread from a file of its own.
        expect(await routebook('test', 'shop.json', '--pause', '0')).to.include({ passed: 2, failed: 0 });
        expect(await routebook('push', 'shop.json')).to.include({ version: 1, created: true });
        expect((await routebook('fetch', SHOP, 'product', '--param', 'id=7')).data).to.include({ title: 'Product 7' });
    });

    it('is a client for programs', async () => {
        writeFileSync(
            joinPath(folder, 'empty', 'call.js'),
            `import { Routebook, RoutebookError } from 'routebook/client';
            const routebook = new Routebook({ baseUrl: '${world.base}', apiKey: process.env.KEY });
            const { data, meta } = await routebook.fetch({ site: '${SHOP}', endpoint: 'product', params: { id: 3 } });
            const error = await routebook.fetch({ site: '${SHOP}', endpoint: 'nothing' }).catch((reason) => reason);
            console.log(JSON.stringify({ data, used: meta.credits_used, code: error instanceof RoutebookError && error.code }));`,
        );
        const said = JSON.parse(await there(process.execPath, ['call.js'], { KEY: ada.apiKey ?? '' }));
        expect(said).to.deep.equal({
            data: { id: 3, title: 'Product 3', price: { amount: 10 } },
            used: 1,
            code: 'ENDPOINT_NOT_FOUND',
        });
    });

    it('is a client without the command line, and without any other package', async () => {
        await npm(joinPath(folder, 'copy/clients/javascript'), 'pack', '--pack-destination', folder);
        const tarball = readdirSync(folder).find((name) => name.startsWith('routebook-client-')) ?? '';
        const alone = joinPath(folder, 'alone');
        mkdirSync(alone);
        writeFileSync(joinPath(alone, 'package.json'), '{ "private": true, "type": "module" }');
        await npm(alone, 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--offline', joinPath('..', tarball));
        expect(readdirSync(joinPath(alone, 'node_modules')).filter((name) => !name.startsWith('.'))).to.deep.equal(['routebook-client']);
        writeFileSync(
            joinPath(alone, 'call.js'),
            `import { Routebook } from 'routebook-client';
            const routebook = new Routebook({ baseUrl: '${world.base}', apiKey: process.env.KEY });
            const { data } = await routebook.fetch({ site: '${SHOP}', endpoint: 'product', params: { id: 4 } });
            console.log(JSON.stringify(data));`,
        );
        const { stdout } = await run(process.execPath, ['call.js'], { cwd: alone, env: { KEY: ada.apiKey ?? '' } });
        expect(JSON.parse(stdout)).to.include({ id: 4, title: 'Product 4' });
        const versions = ['cli', 'clients/javascript'].map((name) => readJson(joinPath(ROOT, name, 'package.json'))['version']);
        expect(new Set(versions)).to.have.property('size', 1);
    });

    it('is the same client in a clone, by its name', async () => {
        const { stdout } = await run(
            process.execPath,
            ['-e', "import('routebook/client').then((all) => console.log(typeof all.Routebook))"],
            {
                cwd: ROOT,
            },
        );
        expect(stdout.trim()).to.equal('function');
    });

    it('has types, for Node and for browsers, with nothing else installed', async () => {
        const empty = joinPath(folder, 'empty');
        writeFileSync(
            joinPath(empty, 'typed.ts'),
            `import { Routebook, RoutebookError, type Card, type FetchAnswer } from 'routebook/client';
            export async function work(routebook: Routebook): Promise<string[]> {
                const answer = await routebook.fetch<{ id: number }>({ site: 'a.example', endpoint: 'product', params: { id: 1 } });
                const whole: Omit<FetchAnswer, 'data'> = answer;
                const names: string[] = [answer.data.id.toFixed(), whole.meta.credits_used.toFixed()];
                for await (const card of routebook.schemas.list({ sort: 'name' })) names.push((card satisfies Card).site);
                try { await routebook.account(); } catch (error) {
                    if (error instanceof RoutebookError && error.code === 'INSUFFICIENT_CREDITS') names.push(error.upgrade?.url ?? '');
                }
                // @ts-expect-error there is no such order
                await routebook.fetch({ site: 'a.example', endpoint: 1 });
                // @ts-expect-error there is no such code
                new RoutebookError({ code: 'NOPE', message: '' });
                return names;
            }`,
        );
        const compiler = joinPath(ROOT, 'node_modules/typescript/bin/tsc');
        const common = ['--strict', '--noEmit', '--target', 'es2022', '--types', '', '--lib', 'es2023,dom,dom.iterable', '--ignoreConfig'];
        for (const flags of [
            ['--module', 'nodenext'],
            ['--module', 'esnext', '--moduleResolution', 'bundler'],
        ]) {
            await run(process.execPath, [compiler, ...common, ...flags, 'typed.ts'], { cwd: empty }).catch((error: { stdout: string }) => {
                throw new Error(error.stdout);
            });
        }
    });
});
