import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findProcess } from './processes.ts';

export interface FolderLock {
    release(): void;
}

/** A process that was killed this very moment is still seen for a while: a holder has to be there for longer than that. */
const DYING_MS = 500;
const PATIENCE_MS = 5_000;

/**
 * Takes the one lock of a data folder for the life of this process. It names pid and start time, so that it ends with the process,
 * however that dies. Throws an Error of one line, naming the folder and the pid, while another process holds it.
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
    mkdirSync(folder, { recursive: true });
    const path = join(folder, 'lock');
    const mine = `${process.pid} ${findProcess(process.pid)?.startedAt ?? 'unknown'}\n`;
    const begun = performance.now();
    while (performance.now() - begun < PATIENCE_MS) {
        if (create(path, mine)) return { release: () => releaseOwn(path, mine) };
        const holder = read(path);
        if (holder !== undefined && isAlive(holder)) {
            if (performance.now() - begun > DYING_MS) {
                throw new Error(
                    `${folder} is in use by another Routebook (pid ${pidOf(holder)}): stop that one first, or set DATA_DIR to another folder`,
                );
            }
        } else if (holder !== undefined && replaceStale(path, holder, mine)) return { release: () => releaseOwn(path, mine) };
        await sleep(20);
    }
    throw new Error(`${folder} cannot be locked: remove ${path} if no Routebook uses this folder`);
}

/** True while a living process holds the lock of this data folder. */
export function isLocked(folder: string): boolean {
    const holder = read(join(folder, 'lock'));
    return holder !== undefined && isAlive(holder);
}

/** Whole or not at all: the content is complete before the name appears, and a name that exists is never overwritten. */
function create(path: string, content: string): boolean {
    const draft = `${path}.${process.pid}`;
    writeFileSync(draft, content, { mode: 0o600 });
    try {
        linkSync(draft, path);
        return true;
    } catch (error) {
        if (codeOf(error) === 'EEXIST') return false;
        throw error;
    } finally {
        rmSync(draft, { force: true });
    }
}

/** Two processes may find the same dead holder: only the one that holds the takeover may replace it, and only if it is still the dead one. */
function replaceStale(path: string, stale: string, mine: string): boolean {
    const takeover = `${path}.takeover`;
    if (!create(takeover, mine)) {
        const other = read(takeover);
        if (other !== undefined && !isAlive(other)) rmSync(takeover, { force: true });
        return false;
    }
    try {
        if (read(path) !== stale) return false;
        const draft = `${path}.${process.pid}`;
        writeFileSync(draft, mine, { mode: 0o600 });
        renameSync(draft, path);
        return true;
    } finally {
        rmSync(takeover, { force: true });
    }
}

function releaseOwn(path: string, mine: string): void {
    if (read(path) === mine) rmSync(path, { force: true });
}

function read(path: string): string | undefined {
    try {
        return readFileSync(path, 'utf8');
    } catch (error) {
        if (codeOf(error) === 'ENOENT') return undefined;
        throw error;
    }
}

function isAlive(holder: string): boolean {
    const startedAt = holder.slice(holder.indexOf(' ') + 1).trim();
    return findProcess(pidOf(holder))?.startedAt === startedAt;
}

function pidOf(holder: string): number {
    return Number.parseInt(holder, 10);
}

function codeOf(error: unknown): string | undefined {
    return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
