import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { needs } from '../support/system-programs.ts';

const run = promisify(execFile);
const SETUP = fileURLToPath(new URL('../../scripts/setup.mjs', import.meta.url));

describe('the setup before an npm script', function () {
    this.timeout(60_000);
    let folder: string;

    before(async function () {
        needs(this, 'npx');
        folder = mkdtempSync(join(tmpdir(), 'routebook-setup-test-'));
        mkdirSync(join(folder, 'scripts'));
        cpSync(SETUP, join(folder, 'scripts/setup.mjs'));
        for (const name of ['served', 'compiler']) {
            mkdirSync(join(folder, name));
            writeFileSync(join(folder, name, 'package.json'), JSON.stringify({ name, version: '1.0.0' }));
            await npm('pack', `./${name}`);
        }
        const packages = { dependencies: { served: 'file:served-1.0.0.tgz' }, devDependencies: { compiler: 'file:compiler-1.0.0.tgz' } };
        writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'clone', private: true, ...packages }));
        await npm('install', '--package-lock-only', '--offline');
    });
    after(() => {
        if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    });

    /** Without the settings of the npm that runs the tests. */
    const environment = () => Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));
    const npm = (...args: string[]) => run('npm', args, { cwd: folder, env: environment() });
    const setUpFor = (script: string) =>
        run(process.execPath, ['scripts/setup.mjs'], { cwd: folder, env: { ...environment(), npm_lifecycle_event: script } });
    const has = (path: string) => existsSync(join(folder, 'node_modules', path));

    it('adds the packages for developers beside those that a running server uses', async () => {
        await setUpFor('prestart');
        expect([has('served'), has('compiler')]).to.deep.equal([true, false]);
        writeFileSync(join(folder, 'node_modules/served/in-use'), '');
        await setUpFor('pretest');
        expect([has('compiler'), has('served/in-use')]).to.deep.equal([true, true]);
    });
});
