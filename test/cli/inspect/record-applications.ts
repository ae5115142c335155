/**
 * Records the applications of `applications/` for test/fixtures/inspect/recordings: it starts each one of a folder in which they were
 * unpacked (npm packages in FOLDER/npm, Debian packages in FOLDER/root or installed), lets Chromium visit it, and writes a compressed HAR file.
 *
 * node test/cli/inspect/record-applications.ts FOLDER OUT [NAME…]
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openBrowser, recordHar } from './browser.ts';
import { keepRecording } from './kept-recordings.ts';
import type { RecordedApplication } from './starting.ts';

const [from = '', out = '', ...names] = process.argv.slice(2);
const npm = join(from, 'npm/node_modules');
const folders = join(import.meta.dirname, 'applications');
/** Files without an application hold visits of applications that the tests start. */
const applications = (await Promise.all(readdirSync(folders).map((file) => import(join(folders, file)))))
    .map(({ application }: { application?: RecordedApplication }) => application)
    .filter((application) => application !== undefined);

const browser = await openBrowser();
mkdirSync(out, { recursive: true });
try {
    for (const [place, application] of applications.entries()) {
        const { name, host } = application;
        if (names.length > 0 && !names.includes(name)) continue;
        const folder = mkdtempSync(join(tmpdir(), 'routebook-recorded-'));
        const port = 4200 + place;
        const log = openSync(join(folder, 'output.log'), 'a');
        const started = application.start(folder, port, npm);
        const {
            program,
            args,
            cwd = folder,
            env = {},
        } = typeof started === 'string' ? { program: 'setsid', args: ['sh', '-c', started] } : started;
        const child = spawn(program, args, { cwd, env: { PATH: process.env['PATH'], HOME: folder, ...env }, stdio: ['ignore', log, log] });
        try {
            await ready(`http://127.0.0.1:${port}${application.ready}`, child);
            const har = join(folder, 'recorded.har');
            await recordHar(browser, har, (context) => application.visit(context, `http://${host}:${port}`));
            keepRecording(readFileSync(har, 'utf8'), join(out, `${name}.har.gz`));
            console.log(`${name} recorded`);
        } catch (error) {
            console.error(name, error, readFileSync(join(folder, 'output.log'), 'utf8').slice(-2000));
        } finally {
            if (child.exitCode === null && child.signalCode === null) {
                const gone = once(child, 'exit');
                child.kill('SIGTERM');
                await gone;
            }
            rmSync(folder, { recursive: true, force: true });
        }
    }
} finally {
    await browser.close();
}

async function ready(url: string, child: ChildProcess): Promise<void> {
    const giveUpAt = performance.now() + 120_000;
    while (performance.now() < giveUpAt && child.exitCode === null) {
        const answer = await fetch(url).catch(() => undefined);
        await answer?.arrayBuffer();
        if (answer?.ok === true) return;
        await sleep(50);
    }
    throw new Error(`${url} does not answer`);
}
