import { growingCache } from './growing-cache.ts';

/** Calls that are remembered, and for how long, in milliseconds. */
const REMEMBERED = 10_000;
const FRESH_MS = 60_000;

/** A precedent leaves this share of every limit, and credits for so many calls. */
const ROOM_LEFT = 0.1;
const CALLS_LEFT = 100;

/** What was left to whoever made a call, once it was counted and paid for. */
export interface LeftOver {
    windows: readonly { limit: number; remaining: number }[];
    /** Credits that can be spent. */
    available: number;
    /** Credits that the call held. */
    amount: number;
}

/**
 * Calls that went through a moment ago with much to spare: the next one like it will most likely, too, and may do two things at once that
 * would else wait for each other. Each precedent serves one call, which makes a new one if it goes through: while calls are refused
 * there is none, and of many at once most have none.
 */
export interface Precedents {
    /** Whether there is one for such a call; it is used up. */
    take(likeness: string): boolean;
    /** A call went through. */
    set(likeness: string, left: LeftOver): void;
}

/** No precedents yet; up to 10,000 are kept, for a minute each. */
export function openPrecedents(): Precedents {
    const fresh = growingCache<string, true>(REMEMBERED, FRESH_MS);
    return {
        take: (likeness) => fresh.has(likeness) && fresh.delete(likeness),
        set(likeness, { windows, available, amount }) {
            const hasRoom = windows.every(({ limit, remaining }) => remaining >= limit * ROOM_LEFT);
            if (hasRoom && available >= amount * CALLS_LEFT) fresh.set(likeness, true);
        },
    };
}
