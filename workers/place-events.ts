import type { App } from '../shared/app.ts';
import { watchConnection } from '../shared/platform/connection-log.ts';
import { placeEvents } from '../shared/store/events/event-feed.ts';
import { type Repeated, repeat } from './repeat.ts';

const LOOK_MS = 250;

/** Gives new events their positions, so that GET /v1/events lists them; every worker may do it, one at a time does. */
export function startPlacingEvents({ db, log }: App): Repeated {
    const status = watchConnection(log, 'events');
    let isStopped = false;
    const looks = repeat(LOOK_MS, async () => {
        try {
            while (!isStopped && ((await placeEvents(db)) ?? 0) > 0);
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
