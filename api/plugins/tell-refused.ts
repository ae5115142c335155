import type { App } from '../../shared/app.ts';
import { type RefusalCode, refusalEntry } from '../../shared/refusals.ts';

/** Refusals are counted and logged together, once so often: one by one they would cost what they are to spare. */
const TOLD_EVERY_MS = 1000;

/** Tells the metrics and the log how many calls were refused at the listener, by method and route. */
export function openTally(app: App, code: RefusalCode, message: string): (method: string, route: string) => void {
    const refused = new Map<string, number>();
    const tell = () => {
        const { status } = refusalEntry(code);
        for (const [call, count] of refused) {
            const [method = '', route = ''] = call.split(' ');
            app.metrics.httpRequests.inc({ method, route, status }, count);
        }
        app.log.warn({ part: 'overload', code, refused: Object.fromEntries(refused) }, message);
        refused.clear();
    };
    return (method, route) => {
        if (refused.size === 0) setTimeout(tell, TOLD_EVERY_MS).unref();
        const call = `${method} ${route}`;
        refused.set(call, (refused.get(call) ?? 0) + 1);
    };
}
