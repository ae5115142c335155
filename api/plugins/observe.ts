import type { Request, Server } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import type { AnyContract } from '../../shared/contracts/contract.ts';
import type { Caller } from '../../shared/store/keys.ts';
import type { Span } from '../../shared/tracing.ts';
import type { Call } from '../serve.ts';
import { clientAddress } from './client-address.ts';
import { requestIdOf } from './request-id.ts';

declare module '@hapi/hapi' {
    interface RequestApplicationState {
        requestId: string;
        clientAddress: string;
        /** Monotonic, milliseconds. */
        startedAt: number;
        /** The whole of the request; its parts hang on it. */
        span: Span;
        caller: Caller | undefined;
        /** Of a call within this process: its caller's own. */
        gone: AbortSignal | undefined;
        /** Stand on the answer, refusals included. */
        headers: Record<string, string>;
        creditsRemaining: number | undefined;
        /** A failure is kept under the call's key. */
        isFinal: boolean;
        /** Once its input is valid. */
        call: Pick<Call<unknown, unknown, unknown>, 'operation' | 'body'> | undefined;
        /** It stands in the request log, whatever its answer becomes. */
        isLogged: boolean;
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

/** Gives every request its id, and every finished one a line in the log, its place in the metrics, and its span where we trace. */
export function observe(server: Server, app: App): void {
    server.ext('onRequest', (request, h) => {
        const { traceparent } = request.raw.req.headers;
        Object.assign(request.app, {
            requestId: requestIdOf(request.raw.req),
            clientAddress: clientAddress(request.raw.req, app.config.trustProxy),
            startedAt: performance.now(),
            headers: {},
            span: app.tracing.begin('request', { kind: 'server', parent: traceparent?.toString() }),
        });
        return h.continue;
    });
    server.events.on('response', (request) => record(app, request));
}

/** Headers of a call of our own API within this process: it belongs to the same request, in the log and in its trace. */
export function sameRequest({ app: { requestId, span } }: Request): Record<string, string> {
    return { 'x-request-id': requestId, ...(span.context === undefined ? {} : { traceparent: span.context }) };
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
            ...(request.app.span.traceId === undefined ? {} : { trace_id: request.app.span.traceId }),
            duration_ms: Math.round(seconds * 1e6) / 1000,
        },
        'answered',
    );
    endSpan(request.app, { method, route, status });
}

/** A route's template, and never the path that was asked for: names of sites, queries and what was mistyped stay out of traces. */
function endSpan({ span, requestId, refused }: Request['app'], answer: { method: string; route: string; status: number }): void {
    const { method, route, status } = answer;
    span.rename(`${method} ${route}`);
    span.set({
        'http.request.method': method,
        'http.route': route,
        'http.response.status_code': status,
        'routebook.request_id': requestId,
        ...(refused === undefined ? {} : { 'routebook.code': refused }),
    });
    if (status >= 500) span.fail(refused ?? String(status));
    span.end();
}
