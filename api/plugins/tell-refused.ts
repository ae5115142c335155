import type { App } from '../../shared/app.ts';
import { type RefusalCode, refusalEntry } from '../../shared/refusals.ts';

/** Refusals are counted and logged together, once so often: one by one they would cost what they are to spare. */
const TOLD_EVERY_MS = 1000;

interface Tale {
    code: RefusalCode;
    /** What the log says of them. */
    message: string;
    /** Told how many there were, for what else counts them. */
    count?: (refused: number) => void;
}

/**
 * Tells the metrics and the log how many calls were refused at the listener, by method and route, and the longest time after which one
 * was told to come back, in milliseconds.
 */
export function openTally(app: App, { code, message, count }: Tale): (method: string, route: string, waitMs?: number) => void {
    const refused = new Map<string, number>();
    let longest: number | undefined;
    const tell = () => {
        const { status } = refusalEntry(code);
        let all = 0;
        for (const [call, calls] of refused) {
            const [method = '', route = ''] = call.split(' ');
            app.metrics.httpRequests.inc({ method, route, status }, calls);
            all += calls;
        }
        count?.(all);
        const waited = longest === undefined ? {} : { wait_ms: Math.round(longest) };
        app.log.warn({ part: 'overload', code, refused: all, calls: Object.fromEntries(refused), ...waited }, message);
        refused.clear();
        longest = undefined;
    };
    return (method, route, waitMs) => {
        if (refused.size === 0) setTimeout(tell, TOLD_EVERY_MS).unref();
        const call = `${method} ${route}`;
        refused.set(call, (refused.get(call) ?? 0) + 1);
        if (waitMs !== undefined) longest = Math.max(longest ?? 0, waitMs);
    };
}
