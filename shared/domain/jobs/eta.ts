import { type AccountFigures, windowsOf } from '../accounts/plans.ts';
import { jobSlotsOf, jobsOfWindow } from './bounds.ts';

/**
 * Seconds until the last of these jobs ends, as far as windows and slots of the account decide it, beginning with windows of which nothing
 * is used; null where the account may run none. A call is taken to last a second.
 */
export function etaSeconds(items: number, figures: AccountFigures): number | null {
    if (items === 0) return 0;
    const bounds = windowsOf(figures).map(({ limit, seconds }) => Math.floor((items - 1) / jobsOfWindow(limit)) * seconds);
    const longest = Math.max(...bounds, Math.ceil(items / jobSlotsOf(figures.concurrency)));
    return Number.isFinite(longest) ? longest : null;
}
