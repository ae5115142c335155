import { type AccountFigures, windowsOf } from '../accounts/plans.ts';
import { jobSlotsOf, jobsOfWindow } from './bounds.ts';

/** Seconds until these jobs have ended, by unused limits of the account and calls of one second. Null if it may run no jobs. */
export function etaSeconds(items: number, figures: AccountFigures): number | null {
    if (items === 0) return 0;
    const bounds = windowsOf(figures).map(({ limit, seconds }) => Math.floor((items - 1) / jobsOfWindow(limit)) * seconds);
    const longest = Math.max(...bounds, Math.ceil(items / jobSlotsOf(figures.concurrency)));
    return Number.isFinite(longest) ? longest : null;
}
