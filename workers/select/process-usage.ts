import { readFileSync } from 'node:fs';

/** CPU time and memory of a process on Linux; undefined on other systems. */
export interface Usage {
    cpuMs: number;
    memoryBytes: number;
}

/** USER_HZ, which Linux fixes for all programs, and the page size of nearly all machines that run Node. */
const TICK_MS = 10;
const PAGE_BYTES = 4096;

/** Fields of /proc/PID/stat after the program name, which ends at the last bracket (proc(5): 14, 15 and 24). */
const UTIME = 11;
const STIME = 12;
const RSS = 21;

/** Reads the current usage of a process; see `Usage`. */
export function usageOf(pid: number): Usage | undefined {
    let stat: string;
    try {
        stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    } catch {
        return undefined;
    }
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return {
        cpuMs: (Number(fields[UTIME]) + Number(fields[STIME])) * TICK_MS,
        memoryBytes: Number(fields[RSS]) * PAGE_BYTES,
    };
}
