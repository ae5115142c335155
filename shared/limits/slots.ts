import { WORKER_LIFE_MS } from '../fleet.ts';

/** How many slots the living workers have, as it was last known. */
export interface KnownSlots {
    latest(): number;
    /** What the store has just said; -1 or absent: it knows of no worker. */
    saw(slots: number | undefined): void;
    /** The store did not answer. */
    away(): void;
}

/**
 * A store that was emptied, or was away for longer than a report lives, knows of no worker until the next reports come: its sites
 * would have no share to speak of, and refuse callers whom the workers could serve. So what was known before stands until the workers
 * have had as long to report as any report lives.
 */
export function rememberSlots(now = () => performance.now()): KnownSlots {
    let known = 0;
    let missingSince: number | undefined;
    return {
        latest: () => known,
        saw(slots = -1) {
            if (slots >= 0) {
                known = slots;
                missingSince = undefined;
                return;
            }
            missingSince ??= now();
            if (now() - missingSince >= WORKER_LIFE_MS) known = 0;
        },
        away() {
            missingSince = undefined;
        },
    };
}
