import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from './people.ts';

const AGAIN_MS = 20;

/** Sends a write and repeats it while too many others of its account wait, as clients do after Retry-After. */
export async function inTurn(send: () => Promise<Answer>): Promise<Answer> {
    for (;;) {
        const answer = await send();
        const { message = '' } = (answer.body['error'] ?? {}) as { message?: string };
        if (answer.status !== 429 || !message.startsWith('The window publishing is full')) return answer;
        await sleep(AGAIN_MS);
    }
}
