import type { LimitWindow, StoreAnswer, TakeVerdict, WindowState } from './types.ts';

/** Retry-After for concurrency and share. Nobody knows when a running fetch ends (docs/api.md, "Limits"). */
const LEASE_RETRY_S = 1;

/** Converts the answer of a store into a verdict. Both stores use this function, so that they round in the same way. */
export function toVerdict(windows: readonly LimitWindow[], answer: StoreAnswer): TakeVerdict {
    const states = toStates(windows, answer);
    if (answer.verdict === 0) return { ok: true, windows: states };
    if (answer.verdict === 1) {
        const [last] = states.filter(({ remaining }) => remaining === 0).sort((a, b) => b.resetsIn - a.resetsIn);
        if (last === undefined) throw new Error('the verdict is "window", but no window is exhausted');
        return { ok: false, reason: 'window', window: last.name, retryAfter: Math.max(1, last.resetsIn), windows: states };
    }
    return { ok: false, reason: answer.verdict === 2 ? 'concurrency' : 'share', retryAfter: LEASE_RETRY_S, windows: states };
}

/**
 * After a downgrade, an account may have used more than its limit. Then 0 calls remain. A window without calls never begins; its wait is a
 * whole window, so that a caller who obeys it does not come back each second.
 */
export function toStates(windows: readonly LimitWindow[], { used, leftMs }: StoreAnswer): WindowState[] {
    return windows.map(({ name, limit, seconds }, index) => ({
        name,
        limit,
        seconds,
        remaining: Math.max(0, limit - (used[index] ?? 0)),
        resetsIn: limit === 0 ? seconds : Math.min(seconds, Math.ceil((leftMs[index] ?? 0) / 1000)),
    }));
}
