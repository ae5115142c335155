import { WORKER_LIFE_MS } from './fleet.ts';

/** The last known number of slots of all live workers. */
interface KnownSlots {
    latest(): number;
    /** Records the store's answer; -1 or absent: it has no worker. */
    saw(slots: number | undefined): void;
    /** Records that the store did not answer. */
    away(): void;
}

/**
 * Remembers the number of slots while the store has none. A store that was flushed, or down for longer than a report lives, has no
 * workers until the next reports. Site shares would drop to their minimum and refuse callers. So the last number stays valid until
 * the workers have had one report lifetime to report.
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
