import { WORKER_LIFE_MS } from './fleet.ts';

/**
 * Remembers the number of slots while the store has none. A store that was flushed, or was down for longer than a report lives, has no
 * workers until the next reports. Site shares would drop to their minimum and calls would be refused. So the last number stays valid until
 * all workers had one report lifetime to report again.
 */
export function rememberSlots(now = () => performance.now()) {
    let known = 0;
    let missingSince: number | undefined;
    return {
        latest: () => known,
        /** Records the answer of the store; -1 or absent: the store knows no worker. */
        observe(slots = -1) {
            if (slots >= 0) {
                known = slots;
                missingSince = undefined;
                return;
            }
            missingSince ??= now();
            if (now() - missingSince >= WORKER_LIFE_MS) known = 0;
        },
        /** Records that the store did not answer. */
        unreachable() {
            missingSince = undefined;
        },
    };
}
