import type { App } from '../shared/app.ts';
import { spreadEvents } from '../shared/store/events/spread.ts';
import { type Repeated, repeatOnDatabase } from './repeat.ts';

const LOOK_MS = 250;

/**
 * Gives new events their positions, so that GET /v1/events lists them, and creates their deliveries. Every worker may run it; only one at a
 * time does.
 */
export function startSpreadingEvents({ db, log }: App): Repeated {
    return repeatOnDatabase(log, { part: 'events', everyMs: LOOK_MS }, async (isStopped) => {
        while (!isStopped() && ((await spreadEvents(db))?.events ?? 0) > 0);
    });
}
