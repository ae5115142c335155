import type { Request, Server } from '@hapi/hapi';
import { type Ask, AskFailure, type Told } from '../../shared/agents/ask.ts';
import type { App } from '../../shared/app.ts';
import { BODY_BYTES } from '../../shared/contracts/contract.ts';
import { Refusal } from '../../shared/refusals.ts';
import { limitIdentity } from '../admission/client-address.ts';
import { readAnswer } from '../answers/read-answer.ts';
import { readJsonBody } from '../bodies/json-body.ts';
import { sameRequest } from '../plugins/observe.ts';
import type { AppPlugin } from '../plugins/plugin.ts';
import { createClientTurns } from './client-turns.ts';
import { effectsOf } from './find-effect.ts';

/** The request headers that are passed on to the calls. */
const PASSED_ON = ['authorization', 'x-forwarded-for'] as const;
/** The response headers of the transport that are kept; hapi sets the others. */
const KEPT_HEADERS = ['content-type', 'mcp-protocol-version'] as const;
/** The most messages in one request. They run at the same time, and some of their routes have no rate limit. */
const MOST_MESSAGES = 10;

/**
 * `POST /mcp`: the tools for agents over streamable HTTP, stateless. Every call that a tool makes goes through our own routes with the
 * caller's key, so that limits, credits and errors are the API's own.
 */
export const agentTools: AppPlugin = {
    name: 'mcp',
    register(server, { app }) {
        const turnOf = createClientTurns();
        server.route({
            method: 'POST',
            path: '/mcp',
            options: { app: { isOpen: false }, auth: { strategy: 'api-key', mode: 'optional' } },
            handler: async (request, h) => {
                requireOwnOrigin(app, request);
                const { value, faults } = await readJsonBody(request, { guard: 'data', maxBytes: BODY_BYTES, hasParams: true });
                if (faults.length > 0) throw new Refusal('VALIDATION_ERROR', undefined, { details: faults });
                const parsedBody = messagesIn(value);
                await turnOf(limitIdentity(request.app.clientAddress));
                const { serveTools } = await import('./serve-tools.ts');
                const parts = { ask: askAs(server, request), findEffect: effectsOf(app) };
                const { status, headers, body } = await serveTools(webRequest(app, request), parsedBody, parts);
                const response = h.response(body).code(status).header('cache-control', 'no-store');
                for (const name of KEPT_HEADERS) {
                    const value = headers.get(name);
                    if (value !== null) response.header(name, value);
                }
                return response;
            },
        });
    },
};

/** Rejects requests from pages of other origins, which also stops DNS rebinding: our host is the configured one. */
function requireOwnOrigin(app: App, { raw }: Request): void {
    const { origin } = raw.req.headers;
    if (origin !== undefined && origin !== new URL(app.publicUrl()).origin) {
        throw new Refusal('FORBIDDEN', 'Pages of other origins may not use the tools for agents.');
    }
}

/**
 * What takes a call of the same request back is left out: that call would get no answer, and the transport would wait for it for ever.
 * @throws Refusal VALIDATION_ERROR
 */
function messagesIn(body: unknown): unknown {
    if (!Array.isArray(body)) return body;
    if (body.length > MOST_MESSAGES) throw new Refusal('VALIDATION_ERROR', `At most ${MOST_MESSAGES} messages are taken at once.`);
    return body.filter((message: { method?: unknown } | null) => message?.method !== 'notifications/cancelled');
}

function webRequest(app: App, { raw }: Request): globalThis.Request {
    const headers = Object.entries(raw.req.headers).flatMap(([name, value]) =>
        typeof value === 'string' ? [[name, value] as [string, string]] : [],
    );
    return new globalThis.Request(`${app.publicUrl()}/mcp`, { method: 'POST', headers });
}

function askAs(server: Server, request: Request): Ask {
    return async ({ method, path, query = {}, body, headers = {} }) => {
        const pairs = Object.entries(query).flatMap(([name, value]) =>
            value === undefined ? [] : [[name, String(value)] as [string, string]],
        );
        const url = pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`;
        const { payload, statusCode } = await inject(server, request, { method, url, headers, body });
        const { body: answer } = readAnswer(payload);
        const { error } = answer as { error?: Told };
        if (statusCode >= 400 && error !== undefined) throw new AskFailure(presentTold(error));
        return answer;
    };
}

function inject(
    server: Server,
    request: Request,
    { method, url, headers = {}, body }: { method: string; url: string; headers?: Record<string, string>; body?: unknown },
) {
    const { raw } = request;
    const passed = PASSED_ON.flatMap((name) => {
        const value = raw.req.headers[name];
        return typeof value === 'string' ? [[name, value] as [string, string]] : [];
    });
    return server.inject({
        method,
        url,
        remoteAddress: raw.req.socket.remoteAddress ?? '127.0.0.1',
        headers: {
            ...Object.fromEntries(passed),
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            ...sameRequest(request),
            ...headers,
        },
        ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    });
}

function presentTold({
    code,
    message,
    retryable,
    retry_after,
    details,
    upgrade_url,
    upstream,
    did_you_mean,
    request_id,
    doc_url,
}: Told): Told {
    return { code, message, retryable, retry_after, details, upgrade_url, upstream, did_you_mean, request_id, doc_url };
}
