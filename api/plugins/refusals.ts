import { Readable } from 'node:stream';
import type { Request } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import { renderRefusal, routeHeaders } from '../answers/refusal.ts';
import { discardRest, isStillSending } from '../bodies/read-body.ts';
import type { AppPlugin } from './plugin.ts';

/** Converts errors of routes and of hapi to the JSON envelope (docs/api.md, "Errors"), and logs each bug once. */
export const refusals: AppPlugin = {
    name: 'refusals',
    register(server, { app }) {
        server.ext('onPreResponse', async (request, h) => {
            const { response } = request;
            if (!('isBoom' in response)) {
                for (const [name, value] of commonHeaders(request)) response.header(name, value);
                return h.continue;
            }
            const { text, status, headers } = await renderRefusal(app, request, response);
            const endsLater = headers['connection'] !== 'close' && status !== 408 && isStillSending(request);
            const answer = h
                .response(endsLater ? thenDiscard(text, request) : text)
                .bytes(Buffer.byteLength(text))
                .type('application/json; charset=utf-8')
                .code(status)
                .header('cache-control', 'no-store');
            const all = [...commonHeaders(request), ...Object.entries(headers), ...challenge(app, request, status)];
            for (const [name, value] of all) answer.header(name, value);
            return answer;
        });
    },
};

/**
 * Sends the answer at once, and ends it when the rest of the body has been discarded. Many callers write the whole body before they read; if
 * the connection is closed earlier, they get an error of the network instead of the refusal, and a proxy answers 502.
 */
function thenDiscard(text: string, request: Request): Readable {
    async function* parts(): AsyncGenerator<string> {
        yield text;
        await discardRest(request);
    }
    return Readable.from(parts(), { objectMode: false });
}

/** The header that tells a client how to sign in (RFC 9728). */
function challenge(app: App, request: Request, status: number): [string, string][] {
    const resource = request.route.settings.app?.resource;
    if (status !== 401 || resource === undefined) return [];
    const metadata = `${app.publicUrl()}/.well-known/oauth-protected-resource${resource(request)}`;
    // This tells a client with a token to refresh it or to sign in again (RFC 6750, section 3.1).
    const error = request.raw.req.headers.authorization === undefined ? '' : 'error="invalid_token", ';
    return [['www-authenticate', `Bearer ${error}resource_metadata="${metadata}"`]];
}

function commonHeaders(request: Request): [string, string][] {
    const { contract, isOpen = contract?.auth !== 'required' } = request.route.settings.app ?? {};
    return [...routeHeaders({ requestId: request.app.requestId, isOpen }), ...Object.entries(request.app.notes?.headers ?? {})];
}
