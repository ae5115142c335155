import { growingCache } from '../../shared/platform/growing-cache.ts';

/** The burst of judging time that one account has, in milliseconds: enough for hundreds of usual packages, or thirty of the slowest. */
export const AT_ONCE_MS = 15_000;

/** The share of real time that is refilled. */
const SHARE = 0.1;

/** Tracks the judging time of each account. Times are milliseconds of one clock. */
export interface JudgingTime {
    /** The used milliseconds that are not refilled yet. */
    takenMs(accountId: string, now: number): number;
    /** The milliseconds until the account may have another package judged; 0: now. */
    waitMs(accountId: string, now: number): number;
    /** Records that judging a package of the account took this long and ended now. */
    took(accountId: string, ms: number, now: number): void;
}

/**
 * Starts with nothing used. An account that has used its burst gets a tenth of a process.
 * @param share the share of real time that is refilled
 */
export function createJudgingTime({ share = SHARE }: { share?: number } = {}): JudgingTime {
    const taken = growingCache<string, { ms: number; at: number }>(10_000);
    const left = (accountId: string, now: number) => {
        const known = taken.get(accountId);
        return known === undefined ? 0 : Math.max(0, known.ms - share * (now - known.at));
    };
    return {
        takenMs: left,
        waitMs: (accountId, now) => Math.max(0, left(accountId, now) - AT_ONCE_MS) / share,
        took: (accountId, ms, now) => taken.set(accountId, { ms: left(accountId, now) + ms, at: now }),
    };
}
