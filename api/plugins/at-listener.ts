import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Server } from '@hapi/hapi';

/**
 * Looks at requests before they become hapi's. Who is registered later looks earlier; whoever is meant to have the request calls `pass`.
 */
export function atListener(
    { listener }: Server,
    look: (request: IncomingMessage, response: ServerResponse, pass: () => void) => void,
): void {
    const dispatch = listener.listeners('request') as RequestListener[];
    listener.removeAllListeners('request');
    listener.on('request', (request: IncomingMessage, response: ServerResponse) =>
        look(request, response, () => {
            for (const serve of dispatch) serve(request, response as Parameters<RequestListener>[1]);
        }),
    );
}
