import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from './free-port.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Programs that start the same as npm would. npm itself needs a second for each of a hundred commands. test/cli/packing.spec.ts tests what
 * npm makes of the package.
 */
const QUICK = {
    npx: `#!/bin/sh
[ "$1" = routebook ] || { echo "only npx routebook is known here: $*" >&2; exit 1; }
shift
exec '${process.execPath}' cli/bin/routebook.js "$@"
`,
    npm: `#!/bin/sh
[ "$1 $2 $3 $4" = 'run --silent admin --' ] || { echo "only npm run --silent admin is known here: $*" >&2; exit 1; }
shift 4
exec '${process.execPath}' bin/admin.ts "$@"
`,
};

/** A copy of the project in which `npm start` runs, as on a new user's machine. */
export interface StartedClone {
    folder: string;
    /** Port of the server; the demo shop has the next one. */
    port: number;
    /** Everything that `npm start` printed. */
    printed: string;
    /**
     * Environment of a command in the clone: without that of this test run, and with a separate folder for the files of the command line.
     */
    environment(extra?: Record<string, string>): NodeJS.ProcessEnv;
    close(): Promise<void>;
}

/** Copies the project and starts it. Resolves when the first steps are printed. */
export async function startClone(settings: Record<string, string> = {}): Promise<StartedClone> {
    const folder = mkdtempSync(join(tmpdir(), 'routebook-clone-'));
    const isOwn = (path: string) => !/^(node_modules|\.git|\.data)(\/|$)/.test(relative(ROOT, path));
    cpSync(ROOT, folder, { recursive: true, filter: isOwn });
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const programs = join(folder, '.quick');
    mkdirSync(programs);
    for (const [name, text] of Object.entries(QUICK)) writeFileSync(join(programs, name), text, { mode: 0o755 });
    const port = await freePort(2);
    const server = spawn(process.execPath, ['bin/start.ts'], {
        cwd: folder,
        env: environment({ PORT: String(port), LOG_LEVEL: 'warn', ...settings }),
        stdio: 'pipe',
    });
    let printed = '';
    server.stdout.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
    });
    while (!printed.includes('Ctrl-C stops everything')) {
        await Promise.race([
            once(server.stdout, 'data'),
            once(server, 'exit').then(() => Promise.reject(new Error(`npm start ended: ${printed}`))),
        ]);
    }
    return {
        folder,
        port,
        printed,
        environment: (extra) =>
            environment({
                XDG_CONFIG_HOME: join(folder, '.data', 'config'),
                PATH: [programs, process.env['PATH']].join(delimiter),
                ...extra,
            }),
        async close() {
            if (server.exitCode === null) {
                server.kill('SIGINT');
                await once(server, 'exit');
            }
            // If the tests run as root, the database is outside of the data folder.
            for (const path of [realpathSync(join(folder, '.data', 'postgres')), folder]) rmSync(path, { recursive: true, force: true });
        },
    };
}

function environment(extra: Record<string, string>): NodeJS.ProcessEnv {
    const kept = Object.entries(process.env).filter(
        ([name]) => !/^(TEST_|DATABASE_URL|REDIS_URL|PORT|DATA_DIR|HOST|ROUTEBOOK_|EGRESS_)/.test(name),
    );
    return { ...Object.fromEntries(kept), ...extra };
}
