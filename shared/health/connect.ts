import { setTimeout as sleep } from 'node:timers/promises';
import { isUp } from './is-up.ts';

/** Maximum wait for connections at the start of a process, in milliseconds. */
const CONNECT_MS = 1000;
const LOOK_AGAIN_MS = 20;

/** Opens connections before the first call needs them. Waits for at most a second, so in an outage the process starts without them. */
export async function connect(parts: readonly (() => PromiseLike<unknown>)[]): Promise<void> {
    const patience = performance.now() + CONNECT_MS;
    const waitFor = async (part: () => PromiseLike<unknown>) => {
        while (!(await isUp(part)) && performance.now() < patience) await sleep(LOOK_AGAIN_MS);
    };
    await Promise.all(parts.map(waitFor));
}
