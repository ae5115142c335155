import type { Server } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import { Refusal } from '../../shared/refusals.ts';
import { isUp } from './check-health.ts';

/**
 * What orchestrators ask: /livez (does the process answer) and /readyz (can it reach the database; missing workers never
 * take browsing away). /metrics only where no port of its own is set, and only for callers on this machine.
 */
export function probes(server: Server, app: App): void {
    server.route({ method: 'GET', path: '/livez', handler: (_request, h) => h.response('ok').type('text/plain') });
    server.route({
        method: 'GET',
        path: '/readyz',
        handler: async (_request, h) => {
            if (app.isDraining() || !(await isUp(() => app.db.raw('select 1')))) {
                throw new Refusal('SERVICE_UNAVAILABLE', undefined, { retryAfter: 1 });
            }
            return h.response('ok').type('text/plain');
        },
    });
    if (app.config.metricsPort !== undefined) return;
    server.route({
        method: 'GET',
        path: '/metrics',
        handler: async (request, h) => {
            const { headers, socket } = request.raw.req;
            const isLocal = /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/.test(socket.remoteAddress ?? '');
            const isForwarded = headers['x-forwarded-for'] !== undefined || headers['forwarded'] !== undefined;
            // To everybody else the page does not exist.
            if (!isLocal || isForwarded) throw new Refusal('NOT_FOUND');
            return h.response(await app.metrics.registry.metrics()).type(app.metrics.registry.contentType);
        },
    });
}
