import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { spawnKept, waitForExit } from '../../../shared/platform/embedded-postgres/kept-process.ts';
import { freePort } from '../../support/free-port.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const READY_MS = 30_000;

/** A server that nobody here wrote, as a process on a free loopback port, with a folder of its own. */
export interface RealServer {
    port: number;
    /** Where it keeps what it was told. */
    folder: string;
    /** Asks it directly, past Routebook. */
    ask(path: string): Promise<unknown>;
    /** How often its own access log names this request so far, e.g. `POST /posts`. */
    logged(request: string): Promise<number>;
    stop(): Promise<void>;
}

interface Program {
    /** A script below node_modules, which runs without a way out of this machine, or a program of the operating system. */
    run: { script: string } | { program: string };
    /** Writes its settings into the folder; answers with its arguments. */
    prepare(folder: string, port: number): string[];
    /** A path that answers 200 as soon as it serves. */
    readyPath: string;
    /** Whether a line of its access log, one a request, tells of this request. */
    isOf(line: string, request: string): boolean;
}

/** A private package registry without uplinks: whatever anybody publishes stays in its folder. */
export function startVerdaccio(): Promise<RealServer> {
    return startServer({
        run: { script: 'verdaccio/bin/verdaccio' },
        readyPath: '/-/ping',
        isOf: (line, request) => line.startsWith(`info <-- 127.0.0.1 requested '${request}'`),
        prepare(folder, port) {
            const config = {
                storage: join(folder, 'storage'),
                auth: { htpasswd: { file: join(folder, 'htpasswd') } },
                uplinks: {},
                packages: { '**': { access: '$all', publish: '$all', unpublish: '$all' } },
                log: { type: 'stdout', format: 'pretty', level: 'http' },
            };
            // JSON is YAML.
            writeFileSync(join(folder, 'config.yaml'), JSON.stringify(config));
            return ['--config', join(folder, 'config.yaml'), '--listen', `127.0.0.1:${port}`];
        },
    });
}

/** A REST API over a JSON file. */
export function startJsonServer(database: object): Promise<RealServer> {
    return startServer({
        run: { script: 'json-server/lib/cli/bin.js' },
        readyPath: '/db',
        isOf: (line, request) => line.startsWith(`${request} `),
        prepare(folder, port) {
            writeFileSync(join(folder, 'db.json'), JSON.stringify(database));
            return ['--host', '127.0.0.1', '--port', String(port), join(folder, 'db.json')];
        },
    });
}

/** Starts a program on a free port. */
export async function startServer(program: Program): Promise<RealServer> {
    // Somebody else may take the port between the look and the start.
    for (let attempt = 0; attempt < 3; attempt++) {
        const server = await startOn(await freePort(), program);
        if (server !== undefined) return server;
    }
    throw new Error(`${JSON.stringify(program.run)} does not start`);
}

async function startOn(port: number, { run, prepare, readyPath, isOf }: Program): Promise<RealServer | undefined> {
    const folder = mkdtempSync(join(tmpdir(), 'routebook-real-'));
    const logFile = join(folder, 'output.log');
    const [program, ...own] = commandOf(run);
    const kept = spawnKept(program, [...own, ...prepare(folder, port)], {
        cwd: folder,
        env: { PATH: process.env['PATH'], HOME: folder },
        output: openSync(logFile, 'a'),
    });
    const gone = waitForExit(kept);
    const stop = async () => {
        kept.ref();
        kept.stdin?.end();
        await gone;
        rmSync(folder, { recursive: true, force: true });
    };
    const base = `http://127.0.0.1:${port}`;
    if (!(await isReady(`${base}${readyPath}`, () => kept.exitCode !== null))) {
        console.error(readFileSync(logFile, 'utf8'));
        await stop();
        return undefined;
    }

    let marks = 0;
    return {
        port,
        folder,
        stop,
        ask: async (path) => (await fetch(`${base}${path}`)).json(),
        async logged(request) {
            // The log is in order: once it shows this request, it shows every one that was answered before.
            const mark = `${readyPath}?mark=${++marks}`;
            await fetch(`${base}${mark}`).then((answer) => answer.arrayBuffer());
            for (;;) {
                const lines = stripVTControlCharacters(readFileSync(logFile, 'utf8')).split('\n');
                if (lines.some((line) => isOf(line, `GET ${mark}`))) return lines.filter((line) => isOf(line, request)).length;
                await sleep(5);
            }
        },
    };
}

function commandOf(run: Program['run']): [program: string, ...args: string[]] {
    if ('program' in run) return [run.program];
    return [process.execPath, '--import', join(ROOT, 'test/support/offline.ts'), join(ROOT, 'node_modules', run.script)];
}

async function isReady(url: string, hasEnded: () => boolean): Promise<boolean> {
    const giveUpAt = performance.now() + READY_MS;
    while (performance.now() < giveUpAt && !hasEnded()) {
        const answer = await fetch(url).catch(() => undefined);
        await answer?.arrayBuffer();
        if (answer?.ok === true) return true;
        await sleep(20);
    }
    return false;
}
