import type { Request, RequestApplicationState } from '@hapi/hapi';
import type { Detail } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import { readAnswer } from '../answers/read-answer.ts';
import { sameRequest } from '../plugins/observe.ts';

export interface ApiCall {
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
    path: string;
    /** A value, or JSON as text. */
    body?: object | string;
    headers?: Readonly<Record<string, string>>;
    /** Undefined: a caller without a key. */
    as: Caller | undefined;
}

/** The `error` of an API answer. */
export interface ApiError {
    code: string;
    message: string;
    request_id: string;
    retry_after?: number;
    details?: Detail[];
    /** The site's answer, if it refused the call. */
    upstream?: { status: number; snippet?: string };
    /** Names that resemble one that was not found. */
    did_you_mean?: string[];
    doc_url?: string;
    /** Of a batch: all problems, of which `details` has the first. */
    problems?: number;
    upgrade_url?: string;
    /** Page where a person connects the site that a call needs a connection for. */
    connect_url?: string;
}

export type ApiAnswer = { headers: Readonly<Record<string, unknown>> } & (
    | {
          ok: true;
          body: Readonly<Record<string, unknown>>;
          /** The answer is large: `body` is the beginning of it. */
          isCut: boolean;
      }
    | { ok: false; refused: ApiError }
);

/** A call of our own API within this process: its rules, limits, bill and log are those of every other call. */
export type Ask = (call: ApiCall) => Promise<ApiAnswer>;

/** Calls for the visitor behind a request of a page: from the same address, under the same request id, until the visitor is gone. */
export function askFor(request: Request, gone: AbortSignal): Ask {
    return async ({ method, path, body, headers = {}, as }) => {
        const forwarded = request.raw.req.headers['x-forwarded-for'];
        const { payload, headers: answered } = await request.server.inject({
            method,
            url: path,
            remoteAddress: request.raw.req.socket.remoteAddress ?? '127.0.0.1',
            headers: {
                ...(typeof forwarded === 'string' ? { 'x-forwarded-for': forwarded } : {}),
                ...(body === undefined ? {} : { 'content-type': 'application/json' }),
                ...sameRequest(request),
                ...headers,
            },
            ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
            ...(as === undefined ? {} : { auth: { strategy: 'api-key', credentials: { app: as } } }),
            // observe.ts adds the rest.
            app: { gone } as RequestApplicationState,
        });
        const { body: answer, isCut } = readAnswer(payload);
        const { error } = answer as { error?: ApiError };
        return error === undefined
            ? { ok: true, headers: answered, body: answer, isCut }
            : { ok: false, headers: answered, refused: error };
    };
}
