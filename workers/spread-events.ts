import type { App } from '../shared/app.ts';
import { watchConnection } from '../shared/platform/connection-log.ts';
import { spreadEvents } from '../shared/store/events/spread.ts';
import { type Repeated, repeat } from './repeat.ts';

const LOOK_MS = 250;

/** Gives new events their positions, so that GET /v1/events lists them, and their deliveries; every worker may do it, one at a time does. */
export function startSpreadingEvents({ db, log }: App): Repeated {
    const status = watchConnection(log, 'events');
    let isStopped = false;
    const looks = repeat(LOOK_MS, async () => {
        try {
            while (!isStopped && ((await spreadEvents(db))?.events ?? 0) > 0);
            status.up();
        } catch (error) {
            status.down(error);
        }
    });
    return {
        async stop() {
            isStopped = true;
            await looks.stop();
        },
    };
}
