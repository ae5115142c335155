import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** The parts of `postmaster.pid` that we use. */
interface Postmaster {
    pid: number;
    socketFolder: string;
    isReady: boolean;
}

/** The running server of a cluster; undefined if none runs, even if a dead one left its `postmaster.pid`. */
export function findPostmaster(cluster: string): Postmaster | undefined {
    try {
        // The lines are: pid, data folder, start time, port, socket folder, listen address, shared memory key, status.
        const lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n');
        const pid = Number.parseInt(lines[0] ?? '', 10);
        // A zombie has no command line, and the pid may belong to another program by now.
        if (!commandOf(pid).includes(cluster)) return undefined;
        return { pid, socketFolder: lines[4] ?? '', isReady: lines[7]?.trim() === 'ready' };
    } catch {
        return undefined;
    }
}

function commandOf(pid: number): string {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return execFileSync('ps', ['-o', 'command=', '-ww', '-p', String(pid)], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}

/**
 * Stops the server of a cluster, if one runs: first by a fast shutdown, then by a kill. Removes its pid file, because PostgreSQL refuses to
 * start while the pid in that file exists, even as a zombie or as another program.
 */
export async function stopPostmaster(cluster: string): Promise<void> {
    for (const [signal, patienceMs] of [
        ['SIGINT', 10_000],
        ['SIGKILL', 5000],
    ] as const) {
        const running = findPostmaster(cluster);
        if (running === undefined) break;
        const giveUpAt = performance.now() + patienceMs;
        try {
            process.kill(running.pid, signal);
        } catch {
            // The process has already exited.
        }
        while (findPostmaster(cluster)?.pid === running.pid && performance.now() < giveUpAt) await sleep(10);
    }
    rmSync(join(cluster, 'postmaster.pid'), { force: true });
}
