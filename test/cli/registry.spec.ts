import { readFileSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import { expect } from 'chai';
import type { JsonSchema } from '../../shared/domain/types.ts';
import { type CommandLine, openCommandLine } from '../support/command-line.ts';
import { join, type Person } from '../support/people.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { openWorld, type World } from '../support/world.ts';

const TASK = 'compare the prices of one product over all its sizes';

describe('the registry on the command line', () => {
    let world: World;
    let ada: Person;
    let shell: CommandLine;

    before(async () => {
        world = await openWorld({ workers: 0 });
        ada = await join(world);
        shell = openCommandLine({ ROUTEBOOK_URL: world.base, ROUTEBOOK_API_KEY: ada.apiKey ?? '' });
        for (const name of ['apples', 'bread', 'cheese']) {
            await ada.publish(aPackage(`${name}.test`, { title: `All about ${name}`, intent_category: 'food/recipes' }));
        }
        await ada.publish(aPackage('jobs.test', { title: 'Work', intent_category: 'jobs/job-search' }));
    });

    after(async () => {
        shell.close();
        await world.close();
    });

    const sites = (json: Record<string, unknown>) => (json['schemas'] as { site: string }[]).map(({ site }) => site);

    it('lists what is published, as many as are wanted, and continues a list', async () => {
        const first = await shell.run(['list', '--sort', 'name', '--limit', '2', '--json']);
        expect(first.code, first.stderr).to.equal(0);
        expect(sites(first.json)).to.deep.equal(['apples.test', 'bread.test']);
        expect(first.json['total']).to.equal(4);
        const rest = await shell.run(['list', '--sort', 'name', '--limit', '2', '--cursor', String(first.json['next_cursor']), '--json']);
        expect(sites(rest.json)).to.deep.equal(['cheese.test', 'jobs.test']);
        expect(rest.json['next_cursor']).to.equal(null);
        const shown = await shell.run(['list', '--category', 'food']);
        expect(shown.stdout)
            .to.include('apples.test')
            .and.include('food/recipes')
            .and.include('All about bread')
            .and.not.include('jobs.test');
    });

    it('lists the categories for filters', async () => {
        const { stdout, json } = await shell.run(['categories', '--json']);
        expect(json['categories']).to.have.length(20);
        expect(stdout).to.include('food/recipes');
        const shown = (await shell.run(['categories'])).stdout;
        expect(shown).to.match(/^food\/recipes +Food.*: Recipes$/m);
    });

    it('finds sites by the beginning of a word, and says if nothing matches', async () => {
        const found = await shell.run(['search', 'chee', '--json']);
        expect(sites(found.json)).to.deep.equal(['cheese.test']);
        const none = await shell.run(['search', 'zzzzzzzz']);
        expect(none.code).to.equal(0);
        expect(none.stdout).to.include('routebook request');
        const wrong = await shell.run(['list', '--category', 'nothing/here', '--json']);
        expect(wrong.code).to.equal(1);
        expect(wrong.error).to.include({ code: 'VALIDATION_ERROR' });
    });

    it('shows the history of a site, yanks a version and restores it', async () => {
        const site = 'history.test';
        await ada.publish(aPackage(site));
        await ada.publish(aPackage(site, { endpoints: [anEndpoint(site), anEndpoint(site, { name: 'another' })] }));
        const yank = await shell.run(['yank', site, '2', '--reason', 'broken', '--json']);
        expect(yank.code, yank.stderr).to.equal(0);
        expect(yank.json).to.include({ version: 2, yanked: true });
        const history = await shell.run(['versions', site, '--json']);
        const versions = history.json['versions'] as { version: number; yanked: boolean; change: string }[];
        expect(versions.map(({ version, yanked, change }) => [version, yanked, change])).to.deep.equal([
            [2, true, 'minor'],
            [1, false, 'major'],
        ]);
        expect((await shell.run(['pull', site, '-o', 'latest.json', '--json'])).json).to.include({ version: 1 });
        const undo = await shell.run(['yank', site, '2', '--undo', '--json']);
        expect(undo.json).to.include({ version: 2, yanked: false });
        const bob = await join(world);
        const env = { ROUTEBOOK_API_KEY: bob.apiKey ?? '' };
        const theirs = await shell.run(['yank', site, '2', '--reason', 'legal', '--json'], { env });
        expect(theirs.code).to.equal(1);
        expect(theirs.error).to.include({ code: 'NOT_MAINTAINER' });
        expect(theirs.stderr).to.include(`"routebook claim start ${site}"`).and.not.include('{');
    });

    it('downloads a site in other formats', async () => {
        const openapi = await shell.run(['pull', 'apples.test', '--format', 'openapi']);
        expect(JSON.parse(openapi.stdout)).to.include({ openapi: '3.1.0' });
        const tools = await shell.run(['pull', 'apples.test', '--format', 'tools', '--json']);
        expect((tools.json as unknown as { name: string; input_schema: object }[])[0]).to.have.all.keys(
            'name',
            'description',
            'input_schema',
        );
        const typescript = await shell.run(['pull', 'apples.test', '--format', 'typescript']);
        expect(typescript.stdout)
            .to.match(/^\/\*\*\n/)
            .and.contain("from 'routebook/client';");
    });

    it('adds functions for a site to a program, and says where it cannot', async () => {
        const added = await shell.run(['add', 'apples.test', '--json']);
        expect(added.json).to.deep.equal({ file: 'src/routebook/apples.test.ts', site: 'apples.test' });
        const source = readFileSync(joinPath(shell.folder, 'src/routebook/apples.test.ts'), 'utf8');
        const pulled = await shell.run(['pull', 'apples.test', '--format', 'typescript']);
        expect(source).to.equal(pulled.stdout).and.contain('export function product(');
        const again = await shell.run(['add', 'apples.test', '--version', '1', '--out', 'src/routebook/apples.test.ts', '--json']);
        expect(again.code).to.equal(1);
        expect(again.error).to.include({ code: 'FILE_UNWRITABLE' });
        expect((await shell.run(['add', 'nowhere.test', '--json'])).error).to.include({ code: 'SITE_NOT_FOUND' });
    });

    it('adds functions for the named endpoints', async () => {
        const site = 'some.test';
        const endpoints = [anEndpoint(site, { name: 'one' }), anEndpoint(site, { name: 'two' }), anEndpoint(site, { name: 'three' })];
        await ada.publish(aPackage(site, { endpoints }));
        expect((await shell.run(['add', site, '--endpoint', 'one', 'three'])).code).to.equal(0);
        const source = readFileSync(joinPath(shell.folder, `src/routebook/${site}.ts`), 'utf8');
        expect(source.match(/^export function \w+/gm)).to.deep.equal(['export function one', 'export function three']);
        const missing = await shell.run(['add', site, '--endpoint', 'four']);
        expect(missing.code).to.equal(2);
        expect(missing.stderr).to.include('no hosted endpoint four; it has one, two, three');
    });

    it('updates functions to the latest version, and shows how their types differ', async () => {
        const site = 'moving.test';
        const read = (name: string, schema: JsonSchema) => ({ ...anEndpoint(site, { name }), response: { type: 'json' as const, schema } });
        const text = { type: 'object', properties: { price: { type: 'string' } } };
        await ada.publish(aPackage(site, { endpoints: [read('price', text), read('gone', text)] }));
        await shell.run(['add', site]);
        const same = await shell.run(['update', site, '--json']);
        expect(same.json['updates']).to.deep.equal([{ site, file: `src/routebook/${site}.ts`, changed: false, removed: [], added: [] }]);
        const number = { type: 'object', properties: { price: { type: 'number' } } };
        await ada.publish(aPackage(site, { endpoints: [read('price', number), read('stock', text)] }));
        const shown = await shell.run(['update', site, '--dry-run']);
        expect(shown.stdout)
            .to.include('moving.test would be updated')
            .and.include('-     price?: string;')
            .and.include('+     price?: number;')
            .and.include('- export function gone(')
            .and.include('+ export function stock(')
            .and.not.include('const VERSION');
        const file = joinPath(shell.folder, `src/routebook/${site}.ts`);
        expect(readFileSync(file, 'utf8')).to.include('price?: string;');
        expect((await shell.run(['update', site])).code).to.equal(0);
        expect(readFileSync(file, 'utf8')).to.include('price?: number;').and.not.include('function gone');
        const absent = await shell.run(['update', 'never-added.test', '--json']);
        expect(absent.error).to.include({ code: 'FILE_UNREADABLE' });
    });

    it('requests a schema, and shows the status of the request', async () => {
        const asked = await shell.run([
            'request',
            'wanted.test',
            '--task',
            TASK,
            '--frequency',
            'daily',
            '--contact',
            'ada@people.example',
            '--json',
        ]);
        expect(asked.code, asked.stderr).to.equal(0);
        expect(asked.json).to.include({ domain: 'wanted.test', status: 'open', demand: 1 });
        const id = String(asked.json['request_id']);
        const status = await shell.run(['request', id, '--json']);
        expect(status.json).to.include({ request_id: id, task: TASK, frequency: 'daily', status: 'open' });
        expect(status.stdout).not.to.include('ada@people.example');
        await ada.publish(aPackage('wanted.test'));
        const after = await shell.run(['request', id]);
        expect(after.stdout).to.include('fulfilled by wanted.test version 1');
        const unknown = await shell.run(['request', 'srq_nothing', '--json']);
        expect(unknown.error).to.include({ code: 'REQUEST_NOT_FOUND' });
    });
});
