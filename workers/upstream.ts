import got from 'got';
import type { UpstreamRequest } from '../shared/domain/types.ts';
import { createAgents, createConnector, type EgressConnector, type EgressRules } from './egress.ts';
import type { Page, RequestFigures, UpstreamAnswer, UpstreamFailure } from './upstream/answers.ts';
import { openCallTime } from './upstream/call-time.ts';
import { Call, type SendOptions, type SendTools, type UpstreamCaps } from './upstream/send.ts';

export type { Page, RequestFigures, SendOptions, UpstreamFailure };

export type Upstream = ReturnType<typeof createUpstream>;

const CAPS: UpstreamCaps = { body: 5 * 1024 * 1024, headerBytes: 64 * 1024, headers: 200 };

/**
 * Creates the only HTTP client for foreign sites (docs/api.md, "Hosted fetch"): got without its retries, redirects, decompression, cookies
 * and proxies, over connections of the egress guard.
 * @param connector only tests pass another one, to show that the guard's tests can fail
 */
export function createUpstream({
    rules,
    connector = createConnector(rules),
    caps = CAPS,
    onRequest = () => {},
}: {
    rules: EgressRules;
    connector?: EgressConnector;
    caps?: UpstreamCaps;
    onRequest?: (figures: RequestFigures) => void;
}) {
    const agents = createAgents(connector);
    const client = got.extend({
        retry: { limit: 0 },
        followRedirect: false,
        decompress: false,
        throwHttpErrors: false,
        http2: false,
        // The body bypasses got's stream, so got would count 0 bytes and report an error for each call.
        strictContentLength: false,
        enableUnixSockets: false,
        maxHeaderSize: caps.headerBytes,
    });
    const tools: SendTools = { client, agents, rules, caps, onRequest };
    return {
        /** Sends a request with its retries and redirects. Faults of the site or the network are values; it rejects only on a bug. */
        async send(request: UpstreamRequest, options: SendOptions): Promise<UpstreamAnswer | UpstreamFailure> {
            const time = openCallTime(options.deadlineAt, options.signal);
            time.whenOver(() => options.reservation?.giveUp());
            try {
                return await new Call(tools, options, time).run(request);
            } finally {
                time.close();
            }
        },
        /** Closes idle connections. */
        close: agents.close,
    };
}
