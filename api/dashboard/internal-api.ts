import type { Request, RequestApplicationState } from '@hapi/hapi';
import type { Detail } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import { readAnswer } from '../answers/read-answer.ts';
import { sameRequest } from '../plugins/observe.ts';

export interface ApiCall {
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
    path: string;
    /** A value, or JSON text. */
    body?: object | string;
    headers?: Readonly<Record<string, string>>;
    /** Undefined for an anonymous caller. */
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
    /** Names similar to one that was not found. */
    did_you_mean?: string[];
    doc_url?: string;
    /** The number of all problems of a batch. `details` has only the first ones. */
    problems?: number;
    upgrade_url?: string;
    /** The page on which a person connects the site, if the call needs a connection. */
    connect_url?: string;
}

export type ApiAnswer = { headers: Readonly<Record<string, unknown>> } & (
    | {
          ok: true;
          body: Readonly<Record<string, unknown>>;
          /** Whether the answer is too large, so that `body` is only its beginning. */
          isCut: boolean;
      }
    | { ok: false; refused: ApiError }
);

/** Calls our own API within this process. Validation, rate limits, billing and logs are the same as for any other call. */
export type Ask = (call: ApiCall) => Promise<ApiAnswer>;

/** Calls the API for the visitor of a page, with the visitor's address and the same request id. Cancelled when the visitor disconnects. */
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
            // observe.ts sets the other properties.
            app: { gone } as RequestApplicationState,
        });
        const { body: answer, isCut } = readAnswer(payload);
        const { error } = answer as { error?: ApiError };
        return error === undefined
            ? { ok: true, headers: answered, body: answer, isCut }
            : { ok: false, headers: answered, refused: error };
    };
}
