import { readdirSync, readFileSync } from 'node:fs';

/** What a process and the processes that it started take together, in bytes. */
export interface TreeMemory {
    /** The most since the watch began. */
    most: number;
    /** By how much that is more than at the beginning. */
    grown: number;
}

const LOOK_MS = 10;
const PAGE_BYTES = 4096;
/** Fields of /proc/PID/stat behind the name of the program (proc(5): 4 and 24). */
const PARENT = 1;
const RSS = 21;

/** Looks at a process and its children until it is asked what they took. */
export function watchTree(pid: number): () => TreeMemory {
    const atFirst = bytesOf(pid);
    let most = atFirst;
    const timer = setInterval(() => {
        most = Math.max(most, bytesOf(pid));
    }, LOOK_MS);
    return () => {
        clearInterval(timer);
        return { most, grown: most - atFirst };
    };
}

function bytesOf(pid: number): number {
    const own = statOf(String(pid))?.bytes ?? 0;
    return readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .map(statOf)
        .reduce((sum, stat) => sum + (stat?.parent === pid ? stat.bytes : 0), own);
}

function statOf(pid: string): { parent: number; bytes: number } | undefined {
    try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
        const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        return { parent: Number(fields[PARENT]), bytes: Number(fields[RSS]) * PAGE_BYTES };
    } catch {
        return undefined;
    }
}
