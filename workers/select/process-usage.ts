import { readFileSync } from 'node:fs';

/** What a process has used so far, as Linux tells it; undefined where it cannot be told, which is on other systems. */
export interface Usage {
    cpuMs: number;
    memoryBytes: number;
}

/** USER_HZ and the page size: Linux fixes the first for all programs, and the second on every machine that Node runs on but few. */
const TICK_MS = 10;
const PAGE_BYTES = 4096;

/** Fields of /proc/PID/stat behind the name of the program, which ends at the last bracket (proc(5): 14, 15 and 24). */
const UTIME = 11;
const STIME = 12;
const RSS = 21;

/** What a process uses now; see `Usage`. */
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
