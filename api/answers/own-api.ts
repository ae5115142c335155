import type { Request, RequestApplicationState } from '@hapi/hapi';
import { parseExact } from '../../shared/domain/json/exact-numbers.ts';
import { truncateJson } from '../../shared/domain/json/truncate-json.ts';
import type { JsonObject } from '../../shared/domain/types.ts';
import { splitAnswer } from '../../shared/fetch/answer-text.ts';
import type { ErrorBody } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import { sameRequest } from '../plugins/observe.ts';

interface OwnCall {
    method: string;
    path: string;
    /** A value, or JSON text. */
    body?: object | string | undefined;
    headers?: Readonly<Record<string, string>>;
    /** The caller, if the headers do not name one. */
    as?: Caller | undefined;
    /** `observe.ts` sets the other properties. */
    app?: Partial<RequestApplicationState>;
}

/**
 * Calls our own API within this process, for a page or an agent's tool, with the address of its client and the same request id. Validation,
 * rate limits, billing and logs are the same as for any other call.
 * @returns `isCut`: the answer is so large that `body` is only its beginning; `text` is the whole
 */
export async function callOwnApi(request: Request, { method, path, body, headers, as, app = {} }: OwnCall) {
    const { req } = request.raw;
    const forwarded = req.headers['x-forwarded-for'];
    const { payload, headers: answered } = await request.server.inject({
        method,
        url: path,
        remoteAddress: req.socket.remoteAddress ?? '127.0.0.1',
        headers: {
            ...(typeof forwarded === 'string' && { 'x-forwarded-for': forwarded }),
            ...(body !== undefined && { 'content-type': 'application/json' }),
            ...sameRequest(request),
            ...headers,
        },
        ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
        ...(as !== undefined && { auth: { strategy: 'api-key', credentials: { app: as } } }),
        app: app as RequestApplicationState,
    });
    const answer = readAnswer(payload);
    return { headers: answered, ...answer, text: payload, error: answer.body['error'] as ErrorBody | undefined };
}

/** Maximum number of characters of an answer that are parsed. This is more than an agent or a page shows, and takes a few milliseconds. */
const MAX = 256 * 1024;

/** Reads an answer of our own API, of a large one only the beginning, since a site may send 5 MB of small values. */
export function readAnswer(payload: string): { body: Record<string, unknown>; isCut: boolean } {
    if (payload.length <= MAX) return { body: parseExact<JsonObject>(payload), isCut: false };
    const parts = splitAnswer(payload);
    if (parts === undefined) return { body: parseExact<JsonObject>(truncateJson(payload, MAX)), isCut: true };
    return {
        body: { success: true, data: parseExact(truncateJson(parts.data, MAX)), meta: JSON.parse(parts.meta) },
        isCut: parts.data.length > MAX,
    };
}
