import type { IncomingMessage } from 'node:http';
import type { CustomFetch } from 'openid-client';
import { readBounded } from '../../shared/platform/read-bounded.ts';
import {
    answerHead,
    createAgents,
    type EgressConnector,
    type EgressRules,
    type GuardedAgent,
    mayCarrySecrets,
    NoAnswer,
} from '../egress.ts';
import { type CallTime, openCallTime } from '../upstream/call-time.ts';

/** Limits of a request to a token endpoint: time in milliseconds and bytes of the answer. */
const TOKEN_BOUNDS: FetchBounds = { timeoutMs: 8000, answerBytes: 64 * 1024 };
const HEADER_BYTES = 16 * 1024;

export interface FetchBounds {
    timeoutMs: number;
    answerBytes: number;
}

/** Creates the `fetch` of `openid-client`. It sends requests through the egress guard, only over https, and follows no redirects. */
export function createGuardedFetch(
    rules: EgressRules,
    userAgent: () => string,
    connector: EgressConnector,
    { timeoutMs, answerBytes }: FetchBounds = TOKEN_BOUNDS,
): CustomFetch & { close(): void } {
    const agents = createAgents(connector);
    const send: CustomFetch = async (href, { method, headers, body }) => {
        const url = new URL(href);
        if (!mayCarrySecrets(url, rules)) throw new Error('this request needs https');
        const time = openCallTime(Date.now() + timeoutMs);
        try {
            const sent = body === undefined || body === null ? '' : String(body);
            const all = { ...headers, host: url.host, 'user-agent': userAgent(), 'accept-encoding': 'identity' };
            const response = await request(agents.of(url.href), url, { method, headers: all, body: sent }, time);
            return new Response(await readWithoutIdToken(response, answerBytes), {
                status: response.statusCode ?? 502,
                headers: { 'content-type': response.headers['content-type'] ?? '' },
            });
        } finally {
            time.close();
        }
    };
    return Object.assign(send, { close: agents.close });
}

function request(
    agent: GuardedAgent,
    url: URL,
    { method, headers, body }: { method: string; headers: Record<string, string>; body: string },
    time: CallTime,
): Promise<IncomingMessage> {
    const length = { 'content-length': String(Buffer.byteLength(body)) };
    const sent = agent.request(url, { method, headers: { ...headers, ...length }, maxHeaderSize: HEADER_BYTES }, time);
    sent.end(body);
    return answerHead(sent, time).catch((error: Error) => {
        throw error instanceof NoAnswer ? new Error(`the server ${error.message}`) : error;
    });
}

async function readWithoutIdToken(response: IncomingMessage, answerBytes: number): Promise<string> {
    const bytes = await readBounded(response, answerBytes);
    if (bytes === undefined) throw new Error('the answer is too large');
    return removeIdToken(bytes.toString('utf8'));
}

/** Removes the id token: we request access and not identity, and verifying the token would need the issuer's keys. */
function removeIdToken(text: string): string {
    if (!text.includes('"id_token"')) return text;
    const { id_token: _, ...rest } = JSON.parse(text) as Record<string, unknown>;
    return JSON.stringify(rest);
}
