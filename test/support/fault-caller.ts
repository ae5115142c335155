import { request } from 'node:http';

/** One call of the load: the request, and what its caller received. Times are milliseconds of the monotonic clock. */
export interface Entry {
    id: number;
    isWrite: boolean;
    sentAt: number;
    ms: number;
    /** The timeout of the call. */
    timeoutMs: number;
    /** 0: the connection ended without an answer. */
    status: number;
    /** `success`, the code of the error, or what happened to the connection. */
    code: string;
    charged: number;
    retryAfter: string | undefined;
    /** The id in the answer, as the site was asked for it. */
    answerOf: number | undefined;
}

interface Asked {
    url: string;
    apiKey: string;
    id: number;
    isWrite?: boolean;
    timeoutMs?: number;
    /** Sent by POST. Without a body the call is a GET. */
    body?: object;
}

/** The fields of an answer that are read. */
interface ApiError {
    error?: { code: string };
    data?: { id?: number };
    meta?: { credits_used?: number };
}

/** Sends a call on a new connection. So a stopping API that closes an idle connection never makes a call fail. */
export function send({ url, apiKey, id, isWrite = false, timeoutMs = 0, body }: Asked): Promise<Entry> {
    const sentAt = performance.now();
    return new Promise((resolve) => {
        const end = (status: number, code: string, more: Partial<Entry> = {}) =>
            resolve({
                ...{ id, isWrite, sentAt, ms: performance.now() - sentAt, timeoutMs, status, code },
                ...{ charged: 0, retryAfter: undefined, answerOf: undefined, ...more },
            });
        const calling = request(url, {
            method: body === undefined ? 'GET' : 'POST',
            agent: false,
            headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), authorization: `Bearer ${apiKey}` },
        });
        calling.on('error', (error: NodeJS.ErrnoException) => end(0, error.code ?? error.message));
        calling.on('response', async (response) => {
            try {
                let text = '';
                for await (const chunk of response.setEncoding('utf8')) text += chunk;
                const { error, data, meta } = JSON.parse(text) as ApiError;
                end(response.statusCode ?? 0, error?.code ?? 'success', {
                    charged: meta?.credits_used ?? 0,
                    retryAfter: response.headers['retry-after'],
                    answerOf: body === undefined ? undefined : data?.id,
                });
            } catch (error) {
                end(0, error instanceof Error ? error.message : 'the answer broke off');
            }
        });
        calling.end(body === undefined ? undefined : JSON.stringify(body));
    });
}
