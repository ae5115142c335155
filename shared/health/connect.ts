import { setTimeout as sleep } from 'node:timers/promises';
import { isUp } from './is-up.ts';

/** The longest wait for connections at the start of a process. */
const CONNECT_MS = 1000;
const LOOK_AGAIN_MS = 20;

/** Opens connections before the first call needs them. It waits for a second at most: in an outage the process starts without them. */
export async function connect(parts: readonly (() => PromiseLike<unknown>)[]): Promise<void> {
    const patience = performance.now() + CONNECT_MS;
    const waitFor = async (part: () => PromiseLike<unknown>) => {
        while (!(await isUp(part)) && performance.now() < patience) await sleep(LOOK_AGAIN_MS);
    };
    await Promise.all(parts.map(waitFor));
}
