import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Server } from '@hapi/hapi';
import type { AppPlugin } from '../plugins/plugin.ts';
import { browseThrottling } from './browse-throttling.ts';
import type { Check } from './check.ts';
import { clientPacing } from './client-pacing.ts';
import { invalidKeyThrottling } from './invalid-keys.ts';
import { overload } from './overload.ts';
import { serialQueue } from './serial-queue.ts';

/** Everything that a request passes before hapi, in this order. */
export const gate: AppPlugin = {
    name: 'gate',
    register(server, { app }) {
        const pacing = clientPacing(app);
        installGate(server, [
            serialQueue(),
            pacing.check,
            invalidKeyThrottling(server, app, pacing),
            browseThrottling(server, app),
            overload(server, app),
        ]);
    },
};

/**
 * The gate at the listener: requests pass these checks in order and then reach hapi. A refusal here costs a tenth of hapi's, which keeps a
 * process alive under five times its load (decision 13).
 */
export function installGate({ listener }: Server, checks: readonly Check[]): void {
    const hapi = listener.listeners('request') as RequestListener[];
    listener.removeAllListeners('request');
    listener.on('request', (request: IncomingMessage, response: ServerResponse) => {
        const step = (index: number): void => {
            const check = checks[index];
            if (check !== undefined) check(request, response, () => step(index + 1));
            else for (const serve of hapi) serve(request, response as Parameters<RequestListener>[1]);
        };
        step(0);
    });
}
