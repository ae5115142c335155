import type { App } from '../shared/app.ts';
import { EVENT_WAITS, spreadEvents } from '../shared/store/events/spread.ts';
import type { DuePoller, Repeated } from './repeat.ts';

/** Gives new events their positions for GET /v1/events, and creates their deliveries. Every worker may run it; one at a time does. */
export function startSpreadingEvents({ db }: App, poller: DuePoller): Repeated {
    return poller.add({
        part: 'events',
        due: EVENT_WAITS,
        async work(isStopped) {
            while (!isStopped() && ((await spreadEvents(db))?.events ?? 0) > 0);
        },
    });
}
