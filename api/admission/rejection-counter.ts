import type { App } from '../../shared/app.ts';
import { type RefusalCode, refusalEntry } from '../../shared/refusals.ts';

/** Rejections are counted and logged once a second: one by one they would cost what rejecting saves. */
const FLUSH_EVERY_MS = 1000;

/** Counts one rejection. @param waitMs the time after which the caller was told to come back */
export type CountRejection = (method: string, route: string, waitMs?: number) => void;

/**
 * Counts the requests that were rejected at the listener, and tells metrics and log once a second.
 * @param kind.message what the log says of them
 * @param kind.count told how many there were, for other metrics
 */
export function rejectionCounter(
    app: App,
    { code, message, count }: { code: RefusalCode; message: string; count?: (rejected: number) => void },
): CountRejection {
    const rejected = new Map<string, number>();
    let longest: number | undefined;
    const flush = () => {
        const { status } = refusalEntry(code);
        let all = 0;
        for (const [call, calls] of rejected) {
            const [method = '', route = ''] = call.split(' ');
            app.metrics.httpRequests.inc({ method, route, status }, calls);
            all += calls;
        }
        count?.(all);
        const waited = longest === undefined ? {} : { wait_ms: Math.round(longest) };
        app.log.warn({ part: 'overload', code, refused: all, calls: Object.fromEntries(rejected), ...waited }, message);
        rejected.clear();
        longest = undefined;
    };
    return (method, route, waitMs) => {
        if (rejected.size === 0) setTimeout(flush, FLUSH_EVERY_MS).unref();
        const call = `${method} ${route}`;
        rejected.set(call, (rejected.get(call) ?? 0) + 1);
        if (waitMs !== undefined) longest = Math.max(longest ?? 0, waitMs);
    };
}
