import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** A Node process that was started with `--inspect=127.0.0.1:<port>`, observed through its debugger. The product needs no code for it. */
export interface Inspected {
    /** Memory of its heap and its buffers after a full garbage collection, in MB. */
    heapMb(): Promise<number>;
    /** The number of listeners on all its event emitters. */
    listeners(): Promise<number>;
    close(): void;
}

/** Connects to the debugger of a process on this machine. Rejects if none listens. */
export async function openInspector(port: number): Promise<Inspected> {
    const socket = new WebSocket(await debuggerUrl(port));
    await once(socket, 'open');
    const waiting = new Map<number, { done: (result: object) => void; fail: (error: Error) => void }>();
    let asked = 0;
    socket.addEventListener('message', ({ data }) => {
        const { id, result, error } = JSON.parse(String(data)) as { id?: number; result?: object; error?: { message: string } };
        const one = id === undefined ? undefined : waiting.get(id);
        if (id === undefined || one === undefined) return;
        waiting.delete(id);
        if (result === undefined) one.fail(new Error(error?.message));
        else one.done(result);
    });
    socket.addEventListener('close', () => {
        for (const { fail } of waiting.values()) fail(new Error('the inspected process is gone'));
    });
    const ask = <Result>(method: string, params: object = {}): Promise<Result> =>
        new Promise((done, fail) => {
            const id = ++asked;
            waiting.set(id, { done: (result) => done(result as Result), fail });
            socket.send(JSON.stringify({ id, method, params }));
        });

    return {
        async heapMb() {
            await ask('HeapProfiler.collectGarbage');
            const { usedSize, backingStorageSize = 0 } = await ask<{ usedSize: number; backingStorageSize?: number }>(
                'Runtime.getHeapUsage',
            );
            return (usedSize + backingStorageSize) / 2 ** 20;
        },
        async listeners() {
            const { result } = await ask<{ result: Remote }>('Runtime.evaluate', { expression: EMITTER, objectGroup: GROUP });
            const { objects } = await ask<{ objects: Remote }>('Runtime.queryObjects', {
                prototypeObjectId: result.objectId,
                objectGroup: GROUP,
            });
            const counted = await ask<{ result: { value: number } }>('Runtime.callFunctionOn', {
                objectId: objects.objectId,
                functionDeclaration: COUNT,
                returnByValue: true,
            });
            // Objects held for the debugger would never be collected.
            await ask('Runtime.releaseObjectGroup', { objectGroup: GROUP });
            return counted.result.value;
        },
        close: () => socket.close(),
    };
}

interface Remote {
    objectId: string;
}

const GROUP = 'soak';
const EMITTER = "process.getBuiltinModule('node:events').EventEmitter.prototype";
const COUNT = `function () {
    let count = 0;
    for (const emitter of this) {
        const { _events: events } = emitter;
        for (const name of Reflect.ownKeys(events ?? {})) count += typeof events[name] === 'function' ? 1 : (events[name]?.length ?? 0);
    }
    return count;
}`;

async function debuggerUrl(port: number): Promise<string> {
    for (let tries = 0; ; tries++) {
        try {
            const [first] = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as { webSocketDebuggerUrl: string }[];
            if (first !== undefined) return first.webSocketDebuggerUrl;
        } catch (error) {
            if (tries > 50) throw error;
        }
        await sleep(100);
    }
}

/** The number of open sockets of a process, including those to its debugger. */
export function openSockets(pid: number): number {
    const folder = `/proc/${pid}/fd`;
    return readdirSync(folder).filter((name) => {
        try {
            return readlinkSync(`${folder}/${name}`).startsWith('socket:');
        } catch {
            return false;
        }
    }).length;
}
