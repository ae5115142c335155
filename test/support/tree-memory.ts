import { readFileSync } from 'node:fs';

/** What a process and the processes that it started take, in bytes. */
export interface TreeMemory {
    /** The most of all together since the watch began. */
    most: number;
    /** By how much that is more than at the beginning. */
    grown: number;
    /** The most of one of the processes that it started. */
    mostOfChild: number;
}

const LOOK_MS = 10;
const PAGE_BYTES = 4096;
/** Field of /proc/PID/stat behind the name of the program (proc(5): 24). */
const RSS = 21;

/** Looks at a process and its children until it is asked what they took. */
export function watchTree(pid: number): () => TreeMemory {
    const atFirst = bytesOf(pid) + sum(bytesOfChildren(pid));
    let most = atFirst;
    let mostOfChild = 0;
    const look = () => {
        const children = bytesOfChildren(pid);
        most = Math.max(most, bytesOf(pid) + sum(children));
        mostOfChild = Math.max(mostOfChild, ...children);
    };
    const timer = setInterval(look, LOOK_MS);
    return () => {
        clearInterval(timer);
        return { most, grown: most - atFirst, mostOfChild };
    };
}

function bytesOfChildren(pid: number): number[] {
    const children = textOf(`/proc/${pid}/task/${pid}/children`).trim();
    return children === '' ? [] : children.split(' ').map((child) => bytesOf(Number(child)));
}

/** 0 for a process that has ended. */
function bytesOf(pid: number): number {
    const stat = textOf(`/proc/${pid}/stat`);
    return stat === '' ? 0 : Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[RSS]) * PAGE_BYTES;
}

function textOf(file: string): string {
    try {
        return readFileSync(file, 'latin1');
    } catch {
        return '';
    }
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
