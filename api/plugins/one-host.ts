import { Refusal } from '../../shared/refusals.ts';
import { headerCopies } from '../admission/request-headers.ts';
import type { AppPlugin } from './plugin.ts';

/**
 * Requires a path, and one valid Host header. A URL of another scheme may have no path, and hapi then fails instead of answering 404. Node
 * and hapi accept two Host headers, but proxies disagree about which one counts. hapi throws when it reads a URL with an invalid host.
 * HTTP/1.0 requests may have no Host header.
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
            if (isMissing || hosts > 1) throw new Refusal('VALIDATION_ERROR', 'Send exactly one Host header.');
            if (!isHost(request.raw.req.headers.host ?? ''))
                throw new Refusal('VALIDATION_ERROR', 'The Host header must be a host with an optional port.');
            return h.continue;
        });
    },
};

/** An empty header is valid (RFC 9110, section 7.2). Parsers of URLs drop tabs, and proxies may not. */
function isHost(text: string): boolean {
    return text === '' || (!/[\t/\\?#@]/.test(text) && URL.canParse(`http://${text}/`));
}
