import type { App } from '../../shared/app.ts';
import { perApp } from './per-app.ts';

/** How long a fetch counts as recent, in milliseconds. */
const RECENT_MS = 1000;

const recentOf = perApp(() => ({ lastAt: Number.NEGATIVE_INFINITY }));

/** Notes that this process received a fetch. */
export function noteFetch(app: App): void {
    recentOf(app).lastAt = performance.now();
}

/** Whether this process received a fetch in the last second. Other work then leaves it half of the event loop's time. */
export function hasRecentFetch(app: App): boolean {
    return performance.now() < recentOf(app).lastAt + RECENT_MS;
}
