import type { Request } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import type { AnyContract } from '../../shared/contracts/contract.ts';
import type { Span } from '../../shared/platform/tracing.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import { clientAddress } from '../admission/client-address.ts';
import { requestIdOf } from '../admission/request-headers.ts';
import { callerOf } from '../auth/caller.ts';
import type { AnswerNotes, Call } from '../call.ts';
import type { AppPlugin } from './plugin.ts';

declare module '@hapi/hapi' {
    interface RequestApplicationState {
        requestId: string;
        clientAddress: string;
        /** Milliseconds of the monotonic clock. */
        startedAt: number;
        span: Span;
        /** For an internal call: aborted when the client of the outer request disconnects. */
        gone: AbortSignal | undefined;
        /** For a call by an agent's tool in this process: the credits that a person confirmed. */
        confirmed: number | undefined;
        /** For a call by a page: looks its visitor up again. Undefined if the visitor has lost access. */
        visitorAgain: (() => Promise<Caller | undefined>) | undefined;
        notes: AnswerNotes;
        /** The validated input. */
        call: Pick<Call<unknown, unknown, unknown>, 'operation' | 'body'> | undefined;
        refused: string | undefined;
    }
    interface RouteOptionsApp {
        contract?: AnyContract;
        /** Whether pages of any origin may call at least one method of the path. */
        isOpen?: boolean;
        /** A page that anybody may read. If the session cannot be looked up, its visitor counts as signed out. */
        isPublic?: boolean;
        /** Answers 405: the path takes other methods. */
        isRefused?: true;
        /** For a path whose callers sign in by OAuth: the path of the resource. A 401 names the URL of its metadata. */
        resource?: (request: Request) => string;
    }
}

/** Gives every request an id. When it ends, writes a log line, its metrics and its span. */
export const observe: AppPlugin = {
    name: 'observe',
    register(server, { app }) {
        server.ext('onRequest', (request, h) => {
            const { traceparent } = request.raw.req.headers;
            Object.assign(request.app, {
                requestId: requestIdOf(request.raw.req),
                clientAddress: clientAddress(request.raw.req, app.config.trustProxy),
                startedAt: performance.now(),
                notes: { headers: {} },
                span: app.tracing.begin('request', { kind: 'server', parent: traceparent?.toString() }),
            });
            return h.continue;
        });
        server.events.on('response', (request) => record(app, request));
    },
};

/** Headers for an internal call of our own API, so that log and trace show it as a part of the same request. */
export function sameRequest({ app: { requestId, span } }: Request): Record<string, string> {
    return { 'x-request-id': requestId, ...(span.context === undefined ? {} : { traceparent: span.context }) };
}

/** The methods that metrics name. Node accepts 34, so strangers could otherwise create a series of each for every route. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

function record(app: App, request: Request): void {
    const seconds = (performance.now() - request.app.startedAt) / 1000;
    const given = request.method.toUpperCase();
    const method = METHODS.has(given) ? given : 'other';
    const route = request.route.settings.app?.contract?.path ?? (request.route.path.startsWith('/{') ? 'other' : request.route.path);
    const status = 'statusCode' in request.response ? request.response.statusCode : 499;
    app.metrics.httpRequests.inc({ method, route, status });
    app.metrics.httpSeconds.observe({ method, route }, seconds);
    const caller = callerOf(request);
    app.log.info(
        {
            request_id: request.app.requestId,
            method,
            route,
            status,
            code: request.app.refused,
            workspace_id: caller?.workspaceId,
            key_id: caller?.keyId,
            trace_id: request.app.span.traceId,
            duration_ms: Math.round(seconds * 1e6) / 1000,
        },
        'answered',
    );
    endSpan(request.app, { method, route, status });
}

/** Ends the span, with the route's template. Traces never contain the path itself, since it names sites and queries. */
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
