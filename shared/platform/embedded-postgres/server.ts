import { type ChildProcess, execFile } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Binaries } from './binaries.ts';
import { type Account, giveTo, type Home } from './home.ts';
import { hasExited, spawnKept } from './kept-process.ts';
import { findPostmaster, stopLeftover, stopPostmaster } from './leftover.ts';

export const PORT = 5432;
export const USER = 'routebook';

/** What a server is started from. */
export interface Setup {
    home: Home;
    binaries: Binaries;
    socketFolder: string;
    /** False: nothing is forced to the disk. */
    durable: boolean;
}

/** A running server process. */
export interface Server {
    /** Resolves when the server has exited for any reason. */
    gone: Promise<void>;
    stop(): Promise<void>;
}

/** Makes an empty cluster where there is none. A half-made one never counts: it gets its name when it is whole. */
export async function initialise({ home, binaries, durable }: Omit<Setup, 'socketFolder'>): Promise<void> {
    if (existsSync(home.cluster)) return;
    const draft = `${home.cluster}.new`;
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft, { mode: 0o700 });
    giveTo(draft, home.account);
    const options = [
        '--auth=trust',
        '--encoding=UTF8',
        '--locale=C',
        '--locale-provider=builtin',
        '--builtin-locale=C.UTF-8',
        '--no-instructions',
    ];
    if (!durable) options.push('--no-sync');
    try {
        await promisify(execFile)(binaries.initdb, [`--pgdata=${draft}`, `--username=${USER}`, ...options], surroundings(home.account));
    } catch (cause) {
        throw new Error(`the embedded PostgreSQL cannot make its data folder: ${lastLine(outputOf(cause))}`, { cause });
    }
    renameSync(draft, home.cluster);
}

/**
 * Starts the server on a cluster that no other uses and waits until it takes connections. Right after a kill -9 the old server's
 * children may still hold its shared memory for a moment: then it is tried again, for up to 20 s.
 */
export async function startServer(setup: Setup): Promise<Server> {
    const { home } = setup;
    const giveUpAt = performance.now() + 20_000;
    while (true) {
        await stopLeftover(home.cluster);
        const result = await launch(setup);
        if (result.ok) return result.server;
        const isPassing = /shared memory block|lock file .* already exists/.test(result.output);
        if (!isPassing || performance.now() > giveUpAt) {
            throw new Error(`the embedded PostgreSQL did not start: ${lastLine(result.output)} (see ${home.log})`);
        }
        await sleep(100);
    }
}

async function launch({
    home,
    binaries,
    socketFolder,
    durable,
}: Setup): Promise<{ ok: true; server: Server } | { ok: false; output: string }> {
    const { log, size } = createLog(home.log);
    const argv = ['-D', home.cluster, ...settings(socketFolder, durable).flatMap((setting) => ['-c', setting])];
    const keeper = spawnKept(binaries.postgres, argv, { ...surroundings(home.account), output: log });
    closeSync(log);
    let isGone = false;
    const gone = hasExited(keeper).then(() => {
        isGone = true;
    });
    while (!isGone) {
        const postmaster = findPostmaster(home.cluster);
        if (postmaster?.isReady && postmaster.socketFolder === socketFolder) {
            return { ok: true, server: { gone, stop: () => stop(keeper, postmaster.pid, gone) } };
        }
        await sleep(5);
    }
    return { ok: false, output: readFileSync(home.log, 'utf8').slice(size) };
}

async function stop(keeper: ChildProcess, pid: number, gone: Promise<void>): Promise<void> {
    keeper.ref();
    await stopPostmaster(pid);
    await gone;
}

function settings(socketFolder: string, durable: boolean): string[] {
    return [
        'listen_addresses=',
        `unix_socket_directories=${socketFolder}`,
        'unix_socket_permissions=0700',
        `port=${PORT}`,
        'max_connections=200',
        'shared_buffers=128MB',
        'timezone=UTC',
        'log_timezone=UTC',
        'jit=off',
        // The server's log says when it starts, stops and recovers; statements and rows of callers do not belong there.
        'log_min_messages=log',
        'log_checkpoints=off',
        ...(durable ? [] : ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'wal_level=minimal', 'max_wal_senders=0']),
    ];
}

const LOG_LIMIT = 10 * 1024 * 1024;

function createLog(path: string): { log: number; size: number } {
    const size = existsSync(path) ? statSync(path).size : 0;
    const isFull = size > LOG_LIMIT;
    return { log: openSync(path, isFull ? 'w' : 'a', 0o600), size: isFull ? 0 : size };
}

function surroundings(account: Account | undefined) {
    return { cwd: '/', env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }, ...account };
}

function outputOf(error: unknown): string {
    const output = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
    return output.trim() === '' ? String(error) : output;
}

function lastLine(text: string): string {
    const lines = text.trim().split('\n');
    return lines.findLast((line) => /FATAL|error/.test(line)) ?? lines.at(-1) ?? 'no message';
}
