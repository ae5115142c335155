import { Refusal } from '../../shared/refusals.ts';
import { headerCopies } from '../admission/request-headers.ts';
import type { AppPlugin } from './plugin.ts';

/**
 * Requires a path, and exactly one Host header. A URL of another scheme may have no path, for which hapi finds no route but fails. Node and hapi accept two, but proxies disagree about which one counts. HTTP/1.0 requests may have none.
 */
export const oneHost: AppPlugin = {
    name: 'one-host',
    register(server) {
        server.ext('onRequest', (request, h) => {
            if (!request.path.startsWith('/')) throw new Refusal('VALIDATION_ERROR', 'The URL has no path.');
            return h.continue;
        });
        server.ext('onPreAuth', (request, h) => {
            const hosts = headerCopies(request.raw.req, 'host');
            const isMissing = hosts === 0 && request.raw.req.httpVersion !== '1.0';
            if (isMissing || hosts > 1) throw new Refusal('VALIDATION_ERROR', 'The Host header has to stand exactly once.');
            return h.continue;
        });
    },
};
