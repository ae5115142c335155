import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROUTEBOOK_WORKSPACE } from '../../shared/domain/site/routebook.ts';
import type { JsonObject, PackageDocument } from '../../shared/domain/types.ts';
import type { Db } from '../../shared/platform/db.ts';
import { addMaintainer, listMaintainers } from '../../shared/store/registry/maintainers.ts';
import { publishPackage } from '../../shared/store/registry/publish.ts';
import { blockDomain } from '../../shared/store/registry/sites.ts';
import { claimRun, endRun, requestRun } from '../../shared/store/registry/verification.ts';
import { STARTERS } from '../starter/packages.ts';
import { contributor, type OpenedDatabase, openDatabase, orderOf, packageOf } from '../store/registry.ts';
import { admin } from '../support/admin.ts';

describe('admin registry load', () => {
    let database: OpenedDatabase;
    let db: Db;
    let folder: string;

    beforeEach(async () => {
        database = await openDatabase();
        ({ db } = database);
        folder = mkdtempSync(join(tmpdir(), 'routebook-packages-'));
    });

    afterEach(async () => {
        rmSync(folder, { recursive: true, force: true });
        await database.close();
    });

    const load = (path?: string, ...options: string[]) =>
        admin(database.url, ['registry', 'load', ...(path === undefined ? [] : ['--from', path]), ...options, '--json']);
    const loaded = async (path?: string, ...options: string[]) => {
        const { code, json } = await load(path, ...options);
        expect(code, JSON.stringify(json)).to.equal(0);
        return json as unknown as { site: string; outcome: string; version: number | null; change: string | null; verify?: boolean }[];
    };
    const write = (document: PackageDocument | string, name: string) => {
        const file = join(folder, name);
        writeFileSync(file, typeof document === 'string' ? document : JSON.stringify(document));
        return file;
    };

    it('publishes the shipped packages for Routebook, and none of them again', async () => {
        const first = await loaded();
        const sites = STARTERS.map(({ document }) => document.site).sort();
        expect(first.map(({ site }) => site)).to.have.members(sites);
        expect(new Set(first.map(({ outcome, version }) => `${outcome} ${version}`))).to.deep.equal(new Set(['published 1']));
        expect((await listMaintainers(db, 'openlibrary.org')).map(({ workspaceId }) => workspaceId)).to.deep.equal([ROUTEBOOK_WORKSPACE]);
        expect(new Set((await loaded()).map(({ outcome }) => outcome))).to.deep.equal(new Set(['unchanged']));
    });

    it('publishes a changed package as the next version, with an entry in the audit', async () => {
        const file = write(packageOf('changed.example'), 'changed.example.json');
        expect(await loaded(file)).to.deep.equal([{ site: 'changed.example', outcome: 'published', version: 1, change: 'major' }]);
        write(packageOf('changed.example', 'Two'), 'changed.example.json');
        expect(await loaded(folder)).to.deep.equal([{ site: 'changed.example', outcome: 'published', version: 2, change: 'patch' }]);
        const { rows } = await db.raw('select command, target, before, after from audit order by id desc limit 1');
        expect(rows).to.deep.equal([
            { command: 'registry load', target: 'changed.example 2', before: { version: 1 }, after: { version: 2 } },
        ]);
    });

    it('skips sites that an owner has proved, that others maintain and that are blocked, and names them', async () => {
        const { workspaceId } = await contributor(db);
        const theirs = await contributor(db);
        for (const site of ['owned.example', 'blocked.example']) write(packageOf(site), `${site}.json`);
        await loaded(folder);
        await addMaintainer(db, 'owned.example', workspaceId);
        await db.raw('update maintainers set proven_at = app_now() where workspace_id = ?', [workspaceId]);
        await db.transaction((trx) => blockDomain(trx, 'blocked.example', 'asked by mail'));
        await publishPackage(db, orderOf(packageOf('taken.example'), theirs));
        for (const site of ['owned.example', 'blocked.example', 'taken.example']) write(packageOf(site, 'Newer'), `${site}.json`);
        expect(await loaded(folder)).to.deep.equal([
            { site: 'blocked.example', outcome: 'blocked', version: null, change: null },
            { site: 'owned.example', outcome: 'owned', version: null, change: null },
            { site: 'taken.example', outcome: 'maintained', version: null, change: null },
        ]);
    });

    it('says what it would do, and does nothing, with --dry-run', async () => {
        write(packageOf('first.example'), 'first.json');
        expect(await loaded(folder, '--dry-run')).to.deep.equal([
            { site: 'first.example', outcome: 'published', version: 1, change: 'major' },
        ]);
        expect((await db('sites').select('site')).length).to.equal(0);
        expect((await db('audit').select('id')).length).to.equal(0);
        expect(await loaded(folder)).to.have.nested.property('[0].version', 1);
    });

    it('loads the sites of --only, and names those that it does not find', async () => {
        for (const site of ['a.example', 'b.example', 'c.example']) write(packageOf(site), `${site}.json`);
        expect((await loaded(folder, '--only', 'c.example', 'a.example')).map(({ site }) => site)).to.deep.equal([
            'a.example',
            'c.example',
        ]);
        const { code, json } = await load(folder, '--only', 'd.example');
        expect([code, (json['error'] as JsonObject)['message']]).to.deep.equal([1, 'There is no package for d.example to load.']);
    });

    it('schedules runs with --verify, also for sites that were loaded before, and shows the state of each site', async () => {
        const example = { name: 'front', method: 'GET' as const, url: 'https://run.example/', examples: [{ params: {} }] };
        for (const site of ['run.example', 'owned.example']) write(packageOf(site), `${site}.json`);
        write(packageOf('run.example', 'One', { endpoints: [example] }), 'run.example.json');
        await loaded(folder);
        const states = async () => {
            const { json } = await admin(database.url, ['registry', 'status', '--json']);
            const sites = json as unknown as { site: string; state: string }[];
            return Object.fromEntries(sites.map(({ site, state }) => [site, state]));
        };
        expect(await states()).to.deep.equal({ 'run.example': 'never run', 'owned.example': 'never run' });
        expect(await claimRun(db)).to.equal(undefined);
        expect((await loaded(folder, '--verify', '--only', 'run.example')).map(({ verify }) => verify)).to.deep.equal([true]);
        expect(await states()).to.include({ 'run.example': 'in line' });
        for (const [outcome, state] of [
            ['passed', 'verified'],
            ['failed', 'failing'],
        ] as const) {
            await requestRun(db, 'run.example');
            await db('domains').update({ verification_began_at: null });
            const run = await claimRun(db);
            if (run === undefined) throw new Error('no run is due');
            await endRun(db, run, outcome, []);
            expect(await states(), outcome).to.include({ 'run.example': state });
        }
    });

    it('names the file that it cannot load, and then loads none', async () => {
        write(packageOf('a-right-one.example'), 'a.json');
        for (const [text, code, word] of [
            ['{"format": ', 'INVALID_JSON', 'b.json'],
            [JSON.stringify({ ...packageOf('b.example'), intent_category: 'nothing/here' }), 'SCHEMA_INVALID', '/intent_category'],
            [' '.repeat(5 * 1024 * 1024), 'PAYLOAD_TOO_LARGE', 'b.json'],
        ] as const) {
            write(text, 'b.json');
            const { code: exit, json } = await load(folder);
            expect([exit, (json['error'] as JsonObject)['code']], word).to.deep.equal([1, code]);
            expect((json['error'] as JsonObject)['message']).to.include(word);
        }
        const empty = join(folder, 'empty');
        mkdirSync(empty);
        for (const path of [empty, join(folder, 'missing'), '/dev/null']) {
            const { code, json } = await load(path);
            expect([code, (json['error'] as JsonObject)['code']], path).to.deep.equal([1, 'NOT_FOUND']);
            expect((json['error'] as JsonObject)['message']).to.include(path);
        }
        const { rows } = await db.raw('select site from sites');
        expect(rows).to.deep.equal([]);
    });
});
