import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { migrate } from '../../shared/migrate.ts';
import { startEmbeddedPostgres } from '../../shared/platform/embedded-postgres.ts';
import { type OpenedDatabase, openDatabase } from '../store/registry.ts';
import { ownEnvironment } from '../support/own-environment.ts';

const ADMIN = fileURLToPath(new URL('../../bin/admin.ts', import.meta.url));

interface Ran {
    code: number;
    stdout: string;
    stderr: string;
}

function admin(env: Record<string, string>, ...args: string[]): Promise<Ran> {
    return new Promise((resolve) => {
        execFile(process.execPath, [ADMIN, ...args], { env: { ...ownEnvironment(), ...env } }, (error, stdout, stderr) => {
            resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1, stdout, stderr });
        });
    });
}

describe('the operator’s command line as a process', () => {
    let database: OpenedDatabase;
    let folder: string;

    before(async () => {
        database = await openDatabase();
        folder = mkdtempSync(join(tmpdir(), 'routebook-admin-'));
        // Where tests run as root, another user runs the database.
        chmodSync(folder, 0o755);
    });

    after(async () => {
        await database.close();
        rmSync(folder, { recursive: true, force: true });
    });

    it('prints the result as the only line of stdout, and ends at once', async () => {
        const began = performance.now();
        const ran = await admin({ DATABASE_URL: database.url }, 'account', 'create', '--email', 'a@people.example', '--json');
        expect(ran.code, ran.stderr).to.equal(0);
        expect(ran.stdout.trimEnd().split('\n')).to.have.length(1);
        expect(JSON.parse(ran.stdout)).to.have.all.keys('user_id', 'workspace_id', 'key_id', 'api_key');
        expect(performance.now() - began).to.be.below(10_000);
    });

    it('fails with a code, a message and exit code 1', async () => {
        const ran = await admin({ DATABASE_URL: database.url }, 'credits', 'grant', 'wsp_unknown', '5', '--json');
        expect(ran.code).to.equal(1);
        expect(JSON.parse(ran.stdout)).to.deep.equal({ error: { code: 'NOT_FOUND', message: 'There is no workspace wsp_unknown.' } });
        expect(ran.stderr).to.include('There is no workspace');
        expect(ran.stderr).not.to.include('    at ');
    });

    it('ends quietly with its own code when its reader closes stdout early, like `head`', async () => {
        for (const [args, expected] of [
            [['account', '--help'], 0],
            [['credits', 'grant', 'wsp_unknown', '5', '--json'], 1],
        ] as const) {
            const env = { ...ownEnvironment(), DATABASE_URL: database.url };
            const ran = spawn(process.execPath, [ADMIN, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
            ran.stdout.destroy();
            let complaint = '';
            ran.stderr.on('data', (chunk: Buffer) => {
                complaint += chunk.toString();
            });
            const [code] = await once(ran, 'close');
            expect(code, args.join(' ')).to.equal(expected);
            expect(complaint).not.to.include('    at ');
        }
    });

    it('exits with code 2 after wrong usage', async () => {
        const ran = await admin({ DATABASE_URL: database.url }, 'plan', 'set', 'wsp_x', 'gold');
        expect(ran.code).to.equal(2);
        expect(ran.stdout).to.equal('');
        expect(ran.stderr).to.include('gold');
    });

    it('says so when no database runs', async () => {
        const none = await admin({ DATA_DIR: join(folder, 'nothing') }, 'audit', 'list', '--json');
        expect(none.code).to.equal(1);
        expect(JSON.parse(none.stdout).error).to.deep.include({ code: 'SERVICE_UNAVAILABLE' });
        expect(none.stderr).to.include('DATABASE_URL').and.include('npm start');
        const away = await admin({ DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' }, 'audit', 'list', '--json');
        expect(away.code).to.equal(1);
        expect(JSON.parse(away.stdout.trimEnd().split('\n').at(-1) ?? '').error.code).to.equal('SERVICE_UNAVAILABLE');
        expect(away.stderr).to.include('cannot be reached').and.include('check DATABASE_URL');
    });

    it('works on the embedded database that runs on its data folder, up to date or not', async () => {
        const dataDir = join(folder, 'data');
        const server = await startEmbeddedPostgres({ dataDir, durable: false, log: { info() {}, error() {} } });
        try {
            const early = await admin({ DATA_DIR: dataDir }, 'audit', 'list', '--json');
            expect(early.code).to.equal(1);
            expect(early.stderr).to.include('npm run migrate');
            await migrate(server.url);
            const blocked = await admin({ DATA_DIR: dataDir }, 'site', 'block', 'a.example', '--reason', 'test', '--json');
            expect(blocked.code, blocked.stderr).to.equal(0);
            expect(JSON.parse(blocked.stdout)).to.include({ domain: 'a.example', blocked: true });
        } finally {
            await server.stop();
        }
    });
});
