import { execFile } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Binaries } from './binaries.ts';
import { type Account, giveTo, type Home } from './home.ts';
import { spawnKept, waitForExit } from './kept-process.ts';
import { findPostmaster, stopPostmaster } from './postmaster.ts';

export const PORT = 5432;
export const USER = 'routebook';

export interface Setup {
    home: Home;
    binaries: Binaries;
    socketFolder: string;
    /** False: the server does not force data to the disk. */
    durable: boolean;
}

export interface Server {
    /** Resolves when the server has exited for any reason. */
    gone: Promise<void>;
    stop(): Promise<void>;
}

/**
 * Creates an empty cluster if there is none. The folder gets its final name only when it is complete.
 * @returns whether it created one
 */
export async function initialise({ home, binaries, durable }: Omit<Setup, 'socketFolder'>): Promise<boolean> {
    if (existsSync(home.cluster)) return false;
    const draft = `${home.cluster}.new`;
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft, { mode: 0o700 });
    giveTo(draft, home.account);
    const options = [`--pgdata=${draft}`, `--username=${USER}`, '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-instructions'];
    options.push('--locale-provider=builtin', '--builtin-locale=C.UTF-8', ...(durable ? [] : ['--no-sync']));
    try {
        await promisify(execFile)(binaries.initdb, options, surroundings(home.account));
    } catch (cause) {
        const output = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim() : '';
        throw new Error(`the embedded PostgreSQL cannot create its data folder: ${lastLine(output || String(cause))}`, { cause });
    }
    renameSync(draft, home.cluster);
    return true;
}

/**
 * Starts the server of a cluster and waits until it accepts connections. Immediately after a kill -9, the old server's children may still
 * hold its shared memory, so the start is retried for up to 20 s.
 */
export async function startServer(setup: Setup): Promise<Server> {
    const { home } = setup;
    for (const giveUpAt = performance.now() + 20_000; ; await sleep(100)) {
        await stopPostmaster(home.cluster);
        const started = await launch(setup);
        if (typeof started !== 'string') return started;
        const isPassing = /shared memory block|lock file .* already exists/.test(started);
        if (!isPassing || performance.now() > giveUpAt)
            throw new Error(`the embedded PostgreSQL did not start: ${lastLine(started)} (see ${home.log})`);
    }
}

/** @returns the running server, or the output of a server that exited */
async function launch({ home, binaries, socketFolder, durable }: Setup): Promise<Server | string> {
    const size = existsSync(home.log) ? statSync(home.log).size : 0;
    const isFull = size > LOG_LIMIT;
    const log = openSync(home.log, isFull ? 'w' : 'a', 0o600);
    const argv = ['-D', home.cluster, ...settings(socketFolder, durable).flatMap((setting) => ['-c', setting])];
    const keeper = spawnKept(binaries.postgres, argv, { ...surroundings(home.account), output: log });
    closeSync(log);
    let isGone = false;
    const gone = waitForExit(keeper).then(() => {
        isGone = true;
    });
    for (; !isGone; await sleep(5)) {
        const postmaster = findPostmaster(home.cluster);
        if (!postmaster?.isReady || postmaster.socketFolder !== socketFolder) continue;
        const stop = async () => {
            keeper.ref();
            await stopPostmaster(home.cluster);
            await gone;
        };
        return { gone, stop };
    }
    return readFileSync(home.log, 'utf8').slice(isFull ? 0 : size);
}

const LOG_LIMIT = 10 * 1024 * 1024;

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
        // The log of the server contains starts, stops and recoveries, but no statements and no rows of callers.
        'log_min_messages=log',
        'log_checkpoints=off',
        ...(durable ? [] : ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'wal_level=minimal', 'max_wal_senders=0']),
    ];
}

function surroundings(account: Account | undefined) {
    return { cwd: '/', env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }, ...account };
}

function lastLine(text: string): string {
    const lines = text.trim().split('\n');
    return lines.findLast((line) => /FATAL|error/.test(line)) ?? lines.at(-1) ?? 'no message';
}
