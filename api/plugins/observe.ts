import type { Request, Server } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import type { AnyContract } from '../../shared/contracts/contract.ts';
import { newId } from '../../shared/domain/ids.ts';
import type { Caller } from '../../shared/store/keys.ts';
import { clientAddress } from './client-address.ts';

declare module '@hapi/hapi' {
    interface RequestApplicationState {
        requestId: string;
        clientAddress: string;
        /** Monotonic, milliseconds. */
        startedAt: number;
        caller: Caller | undefined;
        /** Stand on the answer, refusals included. */
        headers: Record<string, string>;
        creditsRemaining: number | undefined;
        /** A failure is kept under the call's key. */
        isFinal: boolean;
        /** Code of the refusal that was answered. */
        refused: string | undefined;
    }
    interface RouteOptionsApp {
        contract?: AnyContract;
        /** Methods of the path, on the route that answers every other method. */
        allow?: string;
        /** Whether pages of every origin may call some method of the path. */
        isOpen?: boolean;
    }
}

const OWN_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** Gives every request its id, and every finished one a line in the log and its place in the metrics. */
export function observe(server: Server, app: App): void {
    server.ext('onRequest', (request, h) => {
        const given = request.raw.req.headers['x-request-id'];
        Object.assign(request.app, {
            requestId: typeof given === 'string' && OWN_ID.test(given) ? given : newId('req'),
            clientAddress: clientAddress(request.raw.req, app.config.trustProxy),
            startedAt: performance.now(),
            headers: {},
        });
        return h.continue;
    });
    server.events.on('response', (request) => record(app, request));
}

function record(app: App, request: Request): void {
    const seconds = (performance.now() - request.app.startedAt) / 1000;
    const method = request.method.toUpperCase();
    const route = request.route.settings.app?.contract?.path ?? (request.route.path.startsWith('/{') ? 'other' : request.route.path);
    const status = 'statusCode' in request.response ? request.response.statusCode : 499;
    app.metrics.httpRequests.inc({ method, route, status });
    app.metrics.httpSeconds.observe({ method, route }, seconds);
    app.log.info(
        {
            request_id: request.app.requestId,
            method,
            route,
            status,
            ...(request.app.refused === undefined ? {} : { code: request.app.refused }),
            ...(request.app.caller === undefined ? {} : { workspace_id: request.app.caller.workspaceId, key_id: request.app.caller.keyId }),
            duration_ms: Math.round(seconds * 1e6) / 1000,
        },
        'answered',
    );
}
