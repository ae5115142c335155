import { setTimeout as sleep } from 'node:timers/promises';

/** Looks again and again, for at most `maxMs`, until `isOver` of what is seen. @returns what was seen last */
export async function lookUntil<Seen>(
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
