import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';

/** A third-party web application, on a free loopback port, with a folder of its own. */
export interface App {
    port: number;
    folder: string;
    stop(): Promise<void>;
}

const READY_MS = 30_000;

/** Prometheus with one group of rules, which monitors itself. */
export async function startPrometheus(): Promise<App> {
    const prometheus = await start('/-/ready', (folder, port) => {
        const rules = [
            { alert: 'Always', expr: 'vector(1)' },
            { record: 'demo:up', expr: 'up' },
        ];
        writeFileSync(join(folder, 'rules.yml'), JSON.stringify({ groups: [{ name: 'demo', rules }] }));
        const config = {
            global: { scrape_interval: '1s', evaluation_interval: '1s' },
            scrape_configs: [{ job_name: 'prometheus', static_configs: [{ targets: [`127.0.0.1:${port}`] }] }],
            rule_files: [join(folder, 'rules.yml')],
        };
        // JSON is YAML.
        writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config));
        const options = [
            `--config.file=${join(folder, 'prometheus.yml')}`,
            `--storage.tsdb.path=${join(folder, 'data')}`,
            `--web.listen-address=127.0.0.1:${port}`,
        ];
        return spawnInto(folder, 'prometheus', options);
    });
    // Until it has collected its own metrics and evaluated its rules, it knows no labels to list.
    const labels = async () => await (await fetch(`http://127.0.0.1:${prometheus.port}/api/v1/labels`)).text();
    await eventually(labels, (known) => known.includes('"instance"') && known.includes('"alertname"'), READY_MS);
    return prometheus;
}

/** The password of fossil's administrator. A recording contains it, and no draft may. */
export const FOSSIL_PASSWORD = 'Korallenriff-7733';

/** A fossil repository with two check-ins. Anybody may read and file tickets, and an administrator may do everything. */
export async function startFossil(): Promise<App> {
    return await start('/home', (folder, port) => {
        const fossil = (...words: string[]) =>
            execFileSync('fossil', words, { cwd: join(folder, 'work'), env: fossilEnvironment(folder), encoding: 'utf8' });
        mkdirSync(join(folder, 'work', 'src'), { recursive: true });
        fossil('init', '--admin-user', 'admin', join(folder, 'repo.fossil'));
        fossil('open', join(folder, 'repo.fossil'), '--force');
        writeFileSync(join(folder, 'work', 'README.md'), '# Harbour\n\nBoats and tides.\n');
        writeFileSync(join(folder, 'work', 'src', 'main.c'), 'int main(void) { return 0; }\n');
        fossil('add', 'README.md', 'src/main.c');
        fossil('commit', '-m', 'First words', '--no-warnings');
        writeFileSync(join(folder, 'work', 'README.md'), '# Harbour\n\nBoats, tides and lights.\n');
        fossil('commit', '-m', 'More words', '--no-warnings');
        fossil('user', 'password', 'admin', FOSSIL_PASSWORD);
        // Visitors may read, file tickets and search.
        fossil('user', 'capabilities', 'nobody', 'cghjnorwz');
        fossil('fts-config', 'index', 'on');
        for (const kind of ['search-wiki', 'search-tkt', 'search-ci']) fossil('sqlite3', '-batch', CONFIGURE.replaceAll('NAME', kind));
        for (const [name, text] of WIKI) fossil('wiki', 'create', name, noteIn(folder, text));
        return spawnInto(folder, 'fossil', ['server', join(folder, 'repo.fossil'), '--port', String(port), '--localhost'], {
            env: fossilEnvironment(folder),
        });
    });
}

const CONFIGURE = "insert or replace into repository.config(name, value, mtime) values ('NAME', 1, strftime('%s', 'now'))";
const WIKI = [
    ['Tides', 'High water twice a day.'],
    ['Lights', 'Green to starboard.'],
    ['Moorings', 'Ask the harbour master.'],
] as const;

function noteIn(folder: string, text: string): string {
    const file = join(folder, 'note.txt');
    writeFileSync(file, text);
    return file;
}

/** Runs `fossil` on the repository of a started one. */
export function fossilTool({ folder }: App, ...words: string[]): string {
    return execFileSync('fossil', words, { cwd: join(folder, 'work'), env: fossilEnvironment(folder), encoding: 'utf8' });
}

function fossilEnvironment(folder: string): Record<string, string> {
    return { PATH: process.env['PATH'] ?? '', HOME: folder, USER: 'admin' };
}

function spawnInto(folder: string, program: string, options: string[], more: { env?: Record<string, string> } = {}): ChildProcess {
    const log = openSync(join(folder, 'output.log'), 'a');
    return spawn(program, options, { cwd: folder, stdio: ['ignore', log, log], ...more });
}

async function start(readyPath: string, run: (folder: string, port: number) => ChildProcess): Promise<App> {
    // Another process may take the port before the application starts.
    for (let attempt = 0; attempt < 3; attempt++) {
        const folder = mkdtempSync(join(tmpdir(), 'routebook-app-'));
        const port = await freePort();
        const child = run(folder, port);
        const stop = () => end(child, folder);
        if (await isReady(`http://127.0.0.1:${port}${readyPath}`, child)) return { port, folder, stop };
        console.error(readFileSync(join(folder, 'output.log'), 'utf8'));
        await stop();
    }
    throw new Error('the application does not start');
}

async function end(child: ChildProcess, folder: string): Promise<void> {
    if (child.exitCode === null && child.signalCode === null) {
        const gone = once(child, 'exit');
        child.kill('SIGTERM');
        await gone;
    }
    rmSync(folder, { recursive: true, force: true });
}

async function isReady(url: string, child: ChildProcess): Promise<boolean> {
    const giveUpAt = performance.now() + READY_MS;
    while (performance.now() < giveUpAt && child.exitCode === null) {
        const answer = await fetch(url).catch(() => undefined);
        await answer?.arrayBuffer();
        if (answer?.ok === true) return true;
        await sleep(20);
    }
    return false;
}
