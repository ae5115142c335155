import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export interface RunningProcess {
    /** When it started, in the machine's own words: together with the pid it names one process, even after pids come round again. */
    startedAt: string;
    command: string;
}

/** The living process with this pid; undefined where there is none, or only a zombie that its parent has not collected yet. */
export function findProcess(pid: number): RunningProcess | undefined {
    return process.platform === 'linux' ? fromProc(pid) : fromPs(pid);
}

/** Sends a signal to a process that may have exited. @returns whether the process exists */
export function signal(pid: number, name: NodeJS.Signals): boolean {
    try {
        return process.kill(pid, name);
    } catch {
        return false;
    }
}

function fromProc(pid: number): RunningProcess | undefined {
    try {
        // The second field is the program's name in parentheses and may itself hold spaces and parentheses: count from the last one.
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
        const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        const [state, startedAt] = [fields[0], fields[19]];
        if (state === 'Z' || state === 'X' || startedAt === undefined) return undefined;
        return { startedAt, command: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ') };
    } catch {
        return undefined;
    }
}

function fromPs(pid: number): RunningProcess | undefined {
    try {
        const line = execFileSync('ps', ['-o', 'stat=,lstart=,command=', '-ww', '-p', String(pid)], {
            encoding: 'utf8',
            env: { ...process.env, LC_ALL: 'C' },
            stdio: ['ignore', 'pipe', 'ignore'],
        });
        const [state, ...rest] = line.trim().split(/\s+/);
        if (state === undefined || state.startsWith('Z') || rest.length < 6) return undefined;
        return { startedAt: rest.slice(0, 5).join(' '), command: rest.slice(5).join(' ') };
    } catch {
        return undefined;
    }
}
