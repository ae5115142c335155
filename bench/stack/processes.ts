import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { lowerChildPriority } from '../../shared/platform/low-priority.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A started process and the lines that it prints. */
export interface Started {
    readonly pid: number;
    /** Resolves with the first printed line that contains this text, including earlier lines. Rejects if the process ends before. */
    line(text: string): Promise<string>;
    /** Sends SIGTERM, and SIGKILL after ten seconds, or after two if the bench was interrupted. Resolves when the process has ended. */
    stop(): Promise<void>;
}

const running = new Set<ChildProcess>();
let isInterrupted = false;

/** Prevents further starts from now on. So what is being opened or measured fails and is closed. */
export function interrupt(): void {
    isInterrupted = true;
}

// Processes that were not closed in order end with this process at the latest.
process.once('exit', () => {
    for (const child of running) child.kill('SIGKILL');
});

/**
 * Starts a program in the project's folder and shows its stderr. Its environment is `env` with PATH and HOME, and nothing else. Ctrl-C in a
 * terminal reaches only the bench, which closes its parts in order.
 */
export function start(program: string, argv: readonly string[], env: Readonly<Record<string, string>> = {}): Started {
    if (isInterrupted) throw new Error('the bench was interrupted');
    const { PATH = '', HOME = '' } = process.env;
    const child = spawn(program, argv, { cwd: ROOT, env: { PATH, HOME, ...env }, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
    running.add(child);
    child.once('exit', () => running.delete(child));
    const gone = once(child, 'exit');
    gone.catch(() => undefined);
    const lines = watchLines(child);
    return {
        pid: child.pid ?? 0,
        line: lines.find,
        async stop() {
            if (child.exitCode !== null || child.signalCode !== null) return;
            child.kill('SIGTERM');
            const force = setTimeout(() => child.kill('SIGKILL'), isInterrupted ? 2000 : 10_000);
            await gone;
            clearTimeout(force);
        },
    };
}

/** Starts a Node program of the project with the compile cache and the limits that the commands of package.json set. */
export function startNode(file: string, argv: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Started {
    const { flags, variables } = BOUNDS.get(file) ?? { flags: [], variables: {} };
    return start(process.execPath, [...flags, file, ...argv], { NODE_COMPILE_CACHE: COMPILED, ...variables, ...env });
}

/** Starts a process at the lowest CPU priority, since it represents other machines. */
export function startStranger(file: string, argv: readonly string[]): Started {
    const started = start(process.execPath, [file, ...argv], { NODE_COMPILE_CACHE: COMPILED });
    lowerChildPriority(started.pid, LOWEST);
    return started;
}

const LOWEST = 19;

const COMPILED = 'node_modules/.cache/compiled';

const BOUNDS = new Map(['api', 'worker'].map((command) => [`bin/${command}.ts`, boundsOf(command)]));

/** The variables and flags with which a command of package.json limits memory and threads. The compile cache is set above. */
function boundsOf(command: string): { flags: string[]; variables: Record<string, string> } {
    const { scripts } = JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8')) as { scripts: Record<string, string> };
    const words = scripts[command]?.split(' ') ?? [];
    const variables = words.filter((word) => /^(MALLOC|UV)_/.test(word)).map((word) => word.split('='));
    return { flags: words.filter((word) => word.startsWith('--')), variables: Object.fromEntries(variables) };
}

function watchLines(child: ChildProcess): { find(text: string): Promise<string> } {
    const seen: string[] = [];
    const looking = new Set<{ text: string; found: (line: string) => void; fail: (error: Error) => void }>();
    let isGone = false;
    const ended = (text: string) =>
        new Error(`process ${child.pid} (${child.spawnargs.slice(1, 3).join(' ')}) ended before it said "${text}"`);
    if (child.stdout !== null) {
        createInterface(child.stdout).on('line', (line) => {
            seen.push(line);
            for (const one of looking) {
                if (!line.includes(one.text)) continue;
                looking.delete(one);
                one.found(line);
            }
        });
    }
    child.once('close', () => {
        isGone = true;
        for (const one of looking) one.fail(ended(one.text));
    });
    return {
        find(text) {
            const known = seen.find((line) => line.includes(text));
            if (known !== undefined) return Promise.resolve(known);
            if (isGone) return Promise.reject(ended(text));
            return new Promise((found, fail) => looking.add({ text, found, fail }));
        },
    };
}

const TICKS_PER_SECOND = 100;

/** CPU seconds that a process and its threads have used so far. With `children` it includes all children, also ended ones. */
export function cpuSeconds(pid: number, { children = false } = {}): number {
    const own = statOf(pid);
    if (own === undefined) return 0;
    const ticks = own.ticks + (children ? own.endedTicks + liveChildren(pid).reduce((sum, child) => sum + child.ticks, 0) : 0);
    return ticks / TICKS_PER_SECOND;
}

/** CPU seconds that all processes of this machine have used since its start. */
export function busySeconds(): number {
    const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0] = ticksOfMachine();
    return (user + nice + system + irq + softIrq) / TICKS_PER_SECOND;
}

/** Seconds, summed over all cores, in which this machine had work but the hypervisor gave its core to others; see proc(5). */
export function stolenSeconds(): number {
    const [, , , , , , , stolen = 0] = ticksOfMachine();
    return stolen / TICKS_PER_SECOND;
}

/** user, nice, system, idle, iowait, irq, softirq, steal */
function ticksOfMachine(): number[] {
    const [, ...ticks] = readFileSync('/proc/stat', 'utf8').split(/\s+/, 9).map(Number);
    return ticks;
}

/** Waits until no other work uses this machine or its host, but at most this many milliseconds. */
export async function untilQuiet(patienceMs: number): Promise<void> {
    for (const end = performance.now() + patienceMs; performance.now() < end; ) {
        const before = { at: performance.now(), busy: busySeconds() };
        await sleep(300);
        const cores = (busySeconds() - before.busy) / ((performance.now() - before.at) / 1000);
        if (cores < QUIET_CORES && stolenWhileBusy(200) < QUIET_CORES / 2) return;
    }
}

/** Keeps a core busy for some milliseconds and returns the share that was stolen. An idle machine would not notice that time is stolen. */
function stolenWhileBusy(ms: number): number {
    const before = { at: performance.now(), stolen: stolenSeconds() };
    while (performance.now() < before.at + ms);
    return (stolenSeconds() - before.stolen) / ((performance.now() - before.at) / 1000);
}

const QUIET_CORES = 0.25;

/** Resident memory of a process, in MB. */
export function rssMb(pid: number): number {
    const kb = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Number(kb) / 1024;
}

const PAGE_KB = 4;

/** Memory of a process and of its children in MB. Shared memory counts once. */
export function familyMb(pid: number): number {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').map(Number);
    return rssMb(pid) + children.reduce((sum, child) => sum + ownMb(child), 0);
}

/** Memory of a process without what it shares, in MB; see proc(5). 0 if it has ended. */
function ownMb(pid: number): number {
    try {
        const [, resident = 0, shared = 0] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ').map(Number);
        return ((resident - shared) * PAGE_KB) / 1024;
    } catch {
        return 0;
    }
}

/** The id of the parent process; 0 if it is unknown or this process has ended. */
export function parentOf(pid: number): number {
    return statOf(pid)?.parent ?? 0;
}

interface Stat {
    parent: number;
    ticks: number;
    endedTicks: number;
}

/**
 * Reads /proc/<pid>/stat, see proc(5). The name of a process may contain spaces and brackets, so the fields begin after the last bracket.
 */
function statOf(pid: number): Stat | undefined {
    let text: string;
    try {
        text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    } catch {
        return undefined;
    }
    const fields = text
        .slice(text.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number);
    const [, parent = 0] = fields;
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15);
    return { parent, ticks: user + system, endedTicks: endedUser + endedSystem };
}

function liveChildren(pid: number): Stat[] {
    return readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .flatMap((name) => statOf(Number(name)) ?? [])
        .filter((stat) => stat.parent === pid);
}

/** A free TCP port on loopback. */
export async function freePort(): Promise<number> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    server.close();
    await once(server, 'close');
    if (typeof address !== 'object' || address === null) throw new Error('there is no free port');
    return address.port;
}

/** Requests the URL every five milliseconds until the answer is 200 and contains this text. Returns the milliseconds that it took. */
export async function untilReady(url: string, { shows = '', timeoutMs = 120_000 } = {}): Promise<number> {
    const began = performance.now();
    while (performance.now() - began < timeoutMs) {
        if (await isReady(url, shows)) return performance.now() - began;
        await sleep(5);
    }
    throw new Error(`${url} was not ready within ${timeoutMs} ms`);
}

async function isReady(url: string, shows: string): Promise<boolean> {
    try {
        const response = await fetch(url);
        const text = await response.text();
        return response.status === 200 && text.includes(shows);
    } catch {
        return false;
    }
}
