import { setTimeout as sleep } from 'node:timers/promises';

/** Polls `look` until `isOver` accepts its result, for at most `maxMs`. @returns the last result */
export async function pollUntil<Seen>(
    { everyMs, maxMs }: { everyMs: number; maxMs: number },
    look: () => Promise<Seen>,
    isOver: (seen: Seen) => boolean,
): Promise<Seen> {
    const endsAt = performance.now() + maxMs;
    for (;;) {
        const seen = await look();
        if (isOver(seen) || performance.now() > endsAt) return seen;
        await sleep(everyMs);
    }
}
