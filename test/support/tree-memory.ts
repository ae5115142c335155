import { readFileSync } from 'node:fs';

/** Memory of a process and of the processes that it started, in bytes. */
interface TreeMemory {
    /** The peak of their sum since the watch began. */
    most: number;
    /** The peak minus the sum at the beginning. */
    grown: number;
    /** The peak of a single child process. */
    mostOfChild: number;
}

const LOOK_MS = 10;
const PAGE_BYTES = 4096;
/** Index of the field in /proc/PID/stat after the program's name (proc(5): 24). */
const RSS = 21;

/** Watches a process and its children. Calling the returned function ends the watch and returns their memory. */
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
