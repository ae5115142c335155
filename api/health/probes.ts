import type { IncomingMessage } from 'node:http';
import { isReady } from '../../shared/health/is-up.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { AppPlugin } from '../plugins/plugin.ts';

/**
 * Probes for orchestrators: /livez (the process answers) and /readyz (it reaches a migrated database; it stays ready without workers, so
 * that browsing still works). /metrics exists only if no separate port is set, and only for programs on this machine.
 */
export const probes: AppPlugin = {
    name: 'probes',
    register(server, { app }) {
        server.route({ method: 'GET', path: '/livez', handler: (_request, h) => h.response('ok').type('text/plain') });
        server.route({
            method: 'GET',
            path: '/readyz',
            handler: async (_request, h) => {
                if (!(await isReady(app))) {
                    throw new Refusal('SERVICE_UNAVAILABLE', undefined, { retryAfter: 1 });
                }
                return h.response('ok').type('text/plain');
            },
        });
        if (app.config.metricsPort !== undefined) return;
        server.route({
            method: 'GET',
            path: '/metrics',
            options: { app: { isOpen: false } },
            handler: async (request, h) => {
                // Other clients get a 404.
                if (!isFromThisMachine(request.raw.req)) throw new Refusal('NOT_FOUND');
                return h.response(await app.metrics.registry.metrics()).type(app.metrics.registry.contentType);
            },
        });
    },
};

const LOOPBACK = /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/;
/**
 * A web page can let its own host name resolve to loopback (DNS rebinding), but its requests then do not have one of these Host headers.
 */
const LOOPBACK_HOST = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i;
const OF_PROXIES = /^(via|forwarded|x-real-ip|x-forwarded-.*)$/;

/** Whether the request comes from a program on this machine, and neither through a proxy nor from a page in a browser. */
function isFromThisMachine({ socket, headers }: IncomingMessage): boolean {
    const isForwarded = Object.keys(headers).some((name) => OF_PROXIES.test(name));
    return LOOPBACK.test(socket.remoteAddress ?? '') && LOOPBACK_HOST.test(headers.host ?? '') && !isForwarded;
}
