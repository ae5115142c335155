import { growingCache } from '../../shared/growing-cache.ts';

/** Milliseconds of a process that the packages of one account may take at once: hundreds of usual ones, and thirty of the slowest. */
export const AT_ONCE_MS = 15_000;

/** What is given back of the time that goes by. */
const SHARE = 0.1;

/** How much of this process the packages of each account took to judge. Times are milliseconds of one clock. */
export interface JudgingTime {
    /** Milliseconds until the account may have another package judged; 0 where it may now. */
    waitMs(accountId: string, now: number): number;
    /** Judging a package of the account took so long, and ended now. */
    took(accountId: string, ms: number, now: number): void;
}

/** Nothing was judged yet. Whoever used up what may be taken at once has a tenth of a process from then on. */
export function openJudgingTime(): JudgingTime {
    const taken = growingCache<string, { ms: number; at: number }>(10_000);
    const left = (accountId: string, now: number) => {
        const known = taken.get(accountId);
        return known === undefined ? 0 : Math.max(0, known.ms - SHARE * (now - known.at));
    };
    return {
        waitMs: (accountId, now) => Math.max(0, left(accountId, now) - AT_ONCE_MS) / SHARE,
        took: (accountId, ms, now) => taken.set(accountId, { ms: left(accountId, now) + ms, at: now }),
    };
}
