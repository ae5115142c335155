import type { App } from '../../shared/app.ts';
import { postFetch } from '../../shared/contracts/fetch.ts';
import type { Check } from './check.ts';
import { clientAddress, limitIdentity } from './client-address.ts';
import { createClientTurns } from './client-turns.ts';

/** For so many milliseconds of a turn of the event loop requests begin. */
const TURN_MS = 5;

/**
 * Spreads what begins over turns of the event loop. A busy process finds the requests of all connections at once: 120 clients that ask for a
 * page of 2 ms made turns of 240 ms, in which no fetch got on. Once requests have begun for 5 ms in a turn, the others begin in later ones,
 * one in each, client by client. Fetches never wait here: what they do in a turn is done for all of them together.
 */
export function loopTurns({ config: { trustProxy } }: Pick<App, 'config'>): Check {
    const turns = createClientTurns();
    let began: number | undefined;

    /** Milliseconds since the first request of this turn began. */
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
