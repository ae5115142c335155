import type { AccountFigures, RateWindow } from '../accounts/plans.ts';
import { jobSlotsOf, jobsOfWindow } from './bounds.ts';

/** What is left of a rate limit. `resetsIn`: seconds until the window ends; 0: no window is running. */
type WindowLeft = RateWindow & { remaining: number; resetsIn: number };

/**
 * Seconds until these jobs have ended, by what is left of the account's limits and calls of one second. Running jobs have been counted
 * already. Null if the account may run no jobs.
 */
export function etaSeconds(
    { queued, running = 0 }: { queued: number; running?: number },
    figures: Pick<AccountFigures, 'concurrency'>,
    windows: readonly WindowLeft[],
): number | null {
    if (queued + running === 0) return 0;
    const waits = windows.map((window) => secondsUntilLast(queued, window));
    const longest = Math.max(...waits, Math.ceil((queued + running) / jobSlotsOf(figures.concurrency)));
    return Number.isFinite(longest) ? longest : null;
}

/** Seconds until a rate limit lets the last of these jobs start. */
function secondsUntilLast(queued: number, { limit, seconds, remaining, resetsIn }: WindowLeft): number {
    const perWindow = jobsOfWindow(limit);
    const now = Math.max(0, remaining - (limit - perWindow));
    if (queued <= now) return 0;
    return (resetsIn || seconds) + Math.floor((queued - now - 1) / perWindow) * seconds;
}
