import type { Tally } from './store.ts';

/** Longest delay of a success report, in milliseconds. A failure is reported without a delay, with all pending successes. */
const EVERY_MS = 250;

/** Batches the outcomes of this process. No caller waits for a report. */
export interface Reports {
    /** Records an outcome. Never waits and never fails: reports that cannot be stored are dropped. */
    ended(site: string, verdict: 'passed' | 'failed'): void;
    /** Resolves when all outcomes so far are reported. */
    flush(): Promise<void>;
}

/** @param tell stores the tallies; must not reject */
export function createReports(tell: (tallies: Tally[]) => Promise<void>): Reports {
    let waiting = new Map<string, Tally>();
    let timer: NodeJS.Timeout | undefined;
    let telling: Promise<void> = Promise.resolve();
    let isQueued = false;

    /** Runs one report at a time. Outcomes meanwhile go with the next one. */
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
