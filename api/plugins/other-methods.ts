import type { RequestRoute } from '@hapi/hapi';
import { Refusal } from '../../shared/refusals.ts';
import type { AppPlugin } from './plugin.ts';

/** Answers OPTIONS on every known path with 204, and methods that a path lacks with 405 and Allow. Register it after all routes. */
export const otherMethods: AppPlugin = {
    name: 'other-methods',
    register(server) {
        const routesByPath = Map.groupBy(server.table(), ({ path }) => path);
        for (const [path, routes] of routesByPath) {
            const allow = methodsOf(routes);
            // For CORS, list only the methods of open routes, not all methods of the path.
            const openRoutes = routes.filter(({ settings: { app } }) => app?.isOpen ?? app?.contract?.auth !== 'required');
            const isOpen = openRoutes.length > 0;
            server.route({
                method: '*',
                path,
                options: { app: { isOpen } },
                handler: (request, h) => {
                    if (request.method !== 'options') throw new Refusal('METHOD_NOT_ALLOWED', undefined, { headers: { allow } });
                    return h
                        .response()
                        .code(204)
                        .header('allow', allow)
                        .header('access-control-allow-methods', methodsOf(isOpen ? openRoutes : routes))
                        .header(
                            'access-control-allow-headers',
                            'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-Request-Id, X-Service-Intent, X-Service-Session',
                        )
                        .header('access-control-max-age', '86400');
                },
            });
        }
    },
};

function methodsOf(routes: readonly RequestRoute[]): string {
    const methods = routes.flatMap(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));
    return [...methods, 'OPTIONS'].join(', ');
}
