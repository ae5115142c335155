import type { Tally } from './store.ts';

/** What passed is told so late at most; what failed at once, together with all that passed before it. */
const EVERY_MS = 250;

/** Gathers what ended in this process, off the path of any caller. */
export interface Reports {
    /** Never waits and never fails: what cannot be told is forgotten. */
    ended(site: string, verdict: 'passed' | 'failed'): void;
    /** Resolves when everything up to now was told. */
    flush(): Promise<void>;
}

/** @param tell must not reject */
export function createReports(tell: (tallies: Tally[]) => Promise<void>): Reports {
    let waiting = new Map<string, Tally>();
    let timer: NodeJS.Timeout | undefined;
    let telling: Promise<void> = Promise.resolve();
    let isQueued = false;

    /** One statement at a time: what ends meanwhile goes with the next one. */
    function flush(): Promise<void> {
        clearTimeout(timer);
        timer = undefined;
        if (!isQueued && waiting.size > 0) {
            isQueued = true;
            telling = telling.then(async () => {
                isQueued = false;
                const tallies = [...waiting.values()];
                waiting = new Map();
                await tell(tallies);
            });
        }
        return telling;
    }

    return {
        ended(site, verdict) {
            let tally = waiting.get(site);
            if (tally === undefined) {
                tally = { site, passed: 0, failed: 0 };
                waiting.set(site, tally);
            }
            tally[verdict]++;
            if (verdict === 'failed') void flush();
            else timer ??= setTimeout(() => void flush(), EVERY_MS).unref();
        },
        flush,
    };
}
