import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runAdmin } from '../../bin/admin/run-admin.ts';
import { ROUTEBOOK_WORKSPACE } from '../../shared/domain/site/routebook.ts';
import type { JsonObject, PackageDocument } from '../../shared/domain/types.ts';
import type { Db } from '../../shared/platform/db.ts';
import { addMaintainer, listMaintainers } from '../../shared/store/registry/maintainers.ts';
import * as schemas from '../../shared/store/registry/schemas.ts';
import { blockDomain } from '../../shared/store/registry/sites.ts';
import { STARTERS } from '../starter/packages.ts';
import { contributor, type OpenedDatabase, openDatabase, orderOf, packageOf } from '../store/registry.ts';

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

    const load = async (...paths: string[]) => {
        const out: string[] = [];
        const terminal = { print: (line: string) => out.push(line), complain: () => undefined };
        const code = await runAdmin(['registry', 'load', ...paths, '--json'], terminal, { DATABASE_URL: database.url });
        return { code, json: JSON.parse(out.at(-1) ?? 'null') as JsonObject };
    };
    const loaded = async (...paths: string[]) => {
        const { code, json } = await load(...paths);
        expect(code, JSON.stringify(json)).to.equal(0);
        return json as unknown as { site: string; outcome: string; version: number | null }[];
    };
    const write = (document: PackageDocument | string, name: string) => {
        const file = join(folder, name);
        writeFileSync(file, typeof document === 'string' ? document : JSON.stringify(document));
        return file;
    };

    it('publishes the shipped packages for Routebook, and none of them again', async function () {
        this.timeout(20_000);
        const first = await loaded();
        const sites = STARTERS.map(({ document }) => document.site).sort();
        expect(first.map(({ site }) => site)).to.have.members(sites);
        expect(new Set(first.map(({ outcome, version }) => `${outcome} ${version}`))).to.deep.equal(new Set(['published 1']));
        expect((await listMaintainers(db, 'openlibrary.org')).map(({ workspaceId }) => workspaceId)).to.deep.equal([ROUTEBOOK_WORKSPACE]);
        expect(new Set((await loaded()).map(({ outcome }) => outcome))).to.deep.equal(new Set(['unchanged']));
    });

    it('publishes a changed package as the next version, with an entry in the audit', async () => {
        const file = write(packageOf('changed.example'), 'changed.example.json');
        expect(await loaded(file)).to.deep.equal([{ site: 'changed.example', outcome: 'published', version: 1 }]);
        write(packageOf('changed.example', 'Two'), 'changed.example.json');
        expect(await loaded(folder)).to.deep.equal([{ site: 'changed.example', outcome: 'published', version: 2 }]);
        const { rows } = await db.raw('select command, target, before, after from audit order by id desc limit 1');
        expect(rows).to.deep.equal([
            { command: 'registry load', target: 'changed.example 2', before: { version: 1 }, after: { version: 2 } },
        ]);
    });

    it('leaves alone what an owner has proved, what others maintain and what is blocked, and says which', async () => {
        const { workspaceId } = await contributor(db);
        const theirs = await contributor(db);
        for (const site of ['owned.example', 'blocked.example']) write(packageOf(site), `${site}.json`);
        await loaded(folder);
        await addMaintainer(db, 'owned.example', workspaceId);
        await db.raw('update maintainers set proven_at = app_now() where workspace_id = ?', [workspaceId]);
        await db.transaction((trx) => blockDomain(trx, 'blocked.example', 'asked by mail'));
        await schemas.publish(db, orderOf(packageOf('taken.example'), theirs));
        for (const site of ['owned.example', 'blocked.example', 'taken.example']) write(packageOf(site, 'Newer'), `${site}.json`);
        expect(await loaded(folder)).to.deep.equal([
            { site: 'blocked.example', outcome: 'blocked', version: null },
            { site: 'owned.example', outcome: 'owned', version: null },
            { site: 'taken.example', outcome: 'maintained', version: null },
        ]);
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
