import type { Request } from '@hapi/hapi';
import { renderRefusal, routeHeaders } from '../answers/refusal.ts';
import type { AppPlugin } from './plugin.ts';

/** Turns errors of routes and of hapi into the envelope of docs/api.md, "Errors", and logs bugs once. */
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
            const answer = h.response(text).type('application/json; charset=utf-8').code(status).header('cache-control', 'no-store');
            for (const [name, value] of [...commonHeaders(request), ...Object.entries(headers)]) answer.header(name, value);
            return answer;
        });
    },
};

function commonHeaders(request: Request): [string, string][] {
    const { contract, isOpen = contract?.auth !== 'required' } = request.route.settings.app ?? {};
    return [...routeHeaders({ requestId: request.app.requestId, isOpen }), ...Object.entries(request.app.notes?.headers ?? {})];
}
