import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findProcess, signal } from './processes.ts';

/** What a running server wrote about itself into `postmaster.pid`. */
export interface Postmaster {
    pid: number;
    socketFolder: string;
    isReady: boolean;
}

/** The live server of a cluster; undefined where none runs, also when one died and left its `postmaster.pid`. */
export function findPostmaster(cluster: string): Postmaster | undefined {
    const noted = readNote(cluster);
    return noted !== undefined && findProcess(noted.pid)?.command.includes(cluster) ? noted : undefined;
}

/**
 * Ends a server that outlived its Routebook, and clears what it left behind. A pid file whose process is gone, a zombie or somebody
 * else's by now is removed: PostgreSQL itself only asks whether the pid answers, and would refuse to start for as long as it does.
 */
export async function stopLeftover(cluster: string): Promise<void> {
    const running = findPostmaster(cluster);
    if (running !== undefined) await stopPostmaster(running.pid);
    rmSync(join(cluster, 'postmaster.pid'), { force: true });
}

/** Fast shutdown, then immediate, then kill; resolves when the process is gone. */
export async function stopPostmaster(pid: number): Promise<void> {
    const startedAt = findProcess(pid)?.startedAt;
    const isGone = () => startedAt === undefined || findProcess(pid)?.startedAt !== startedAt;
    for (const [name, patienceMs] of STEPS) {
        if (isGone()) return;
        signal(pid, name);
        const giveUpAt = performance.now() + patienceMs;
        while (!isGone() && performance.now() < giveUpAt) await sleep(10);
    }
}

const STEPS: ReadonlyArray<[NodeJS.Signals, number]> = [
    ['SIGINT', 10_000],
    ['SIGQUIT', 5_000],
    ['SIGKILL', 5_000],
];

/** Lines: pid, data folder, start time, port, socket folder, listen address, shared memory key, status. */
function readNote(cluster: string): Postmaster | undefined {
    let lines: string[];
    try {
        lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n');
    } catch {
        return undefined;
    }
    const pid = Number.parseInt(lines[0] ?? '', 10);
    return Number.isNaN(pid) ? undefined : { pid, socketFolder: lines[4] ?? '', isReady: lines[7]?.trim() === 'ready' };
}
