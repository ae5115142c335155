import type { App } from '../../shared/app.ts';
import { postFetch } from '../../shared/contracts/fetch.ts';
import type { Check } from './check.ts';
import { clientAddress, limitIdentity } from './client-address.ts';
import { createClientTurns } from './client-turns.ts';
import { fetchShareOf } from './fetch-share.ts';

/** How long new requests may start in one turn of the event loop. */
const TURN_MS = 5;

/**
 * Spreads the start of requests over turns of the event loop. A busy process reads the requests of all connections in one turn: 120
 * requests for a page of 2 ms made a turn of 240 ms, in which no fetch progressed. After 5 ms of a turn, further requests start in later
 * turns, one per turn, client by client, and in half of the time while there are fetches. Fetches never wait here, since their work of one
 * turn is batched.
 */
export function eventLoopTurns(app: App): Check {
    const { trustProxy } = app.config;
    const turns = createClientTurns(fetchShareOf(app).pauseAfter);
    let began: number | undefined;

    /** Milliseconds since the first request of this turn started. */
    function spentMs(): number {
        const now = performance.now();
        if (began === undefined) {
            began = now;
            setImmediate(() => {
                began = undefined;
            });
        }
        return now - began;
    }

    return ({ request, contract }, pass) => {
        if (contract?.name === postFetch.name) return pass();
        if (!turns.isContested() && spentMs() < TURN_MS) return pass();
        void turns.wait(limitIdentity(clientAddress(request, trustProxy))).then(() => {
            if (!request.socket.destroyed) pass();
        });
    };
}
