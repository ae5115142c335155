import type { Request, RequestApplicationState, Server } from '@hapi/hapi';
import { type ApiError, type Ask, AskFailure } from '../../shared/agents/ask.ts';
import { readAnswer } from '../answers/read-answer.ts';
import { sameRequest } from '../plugins/observe.ts';

/** The request headers that are forwarded to the calls. */
const PASSED_ON = ['authorization', 'x-forwarded-for'] as const;

/** Calls our own routes with the key and the address of the agent's request. */
export function askAs(server: Server, request: Request): Ask {
    return async ({ method, path, query = {}, body, headers = {}, confirmed }) => {
        const pairs = Object.entries(query).flatMap(([name, value]) =>
            value === undefined ? [] : [[name, String(value)] as [string, string]],
        );
        const url = pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`;
        const { payload, statusCode } = await inject(server, request, { method, url, headers, body, confirmed });
        const { body: answer } = readAnswer(payload);
        const { error } = answer as { error?: ApiError };
        if (statusCode >= 400 && error !== undefined) throw new AskFailure(presentError(error));
        return answer;
    };
}

function inject(
    server: Server,
    request: Request,
    {
        method,
        url,
        headers = {},
        body,
        confirmed,
    }: { method: string; url: string; headers?: Record<string, string>; body?: unknown; confirmed: number | undefined },
) {
    const { raw } = request;
    const passed = PASSED_ON.flatMap((name) => {
        const value = raw.req.headers[name];
        return typeof value === 'string' ? [[name, value] as [string, string]] : [];
    });
    return server.inject({
        method,
        url,
        ...(confirmed === undefined ? {} : { app: { confirmed } as RequestApplicationState }),
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

function presentError(error: ApiError): ApiError {
    const { code, message, fault, retryable, retry_after, details } = error;
    const { upgrade_url, connect_url, obtain_url, upstream, did_you_mean, request_id, doc_url } = error;
    return {
        code,
        message,
        fault,
        retryable,
        retry_after,
        details,
        upgrade_url,
        connect_url,
        obtain_url,
        upstream,
        did_you_mean,
        request_id,
        doc_url,
    };
}
