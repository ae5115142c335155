import type { Request, RequestRoute, ResponseToolkit, RouteDefMethods, ServerRoute } from '@hapi/hapi';
import { Refusal } from '../../shared/refusals.ts';
import type { AppPlugin } from './plugin.ts';

/** Answers OPTIONS on every known path with 204, and methods that a path lacks with 405 and Allow. Register it after all routes. */
export const otherMethods: AppPlugin = {
    name: 'other-methods',
    register(server) {
        const table = server.table();
        const otherMethodsOf = methodsOfParameters(table);
        const routesByPath = Map.groupBy(table, ({ path }) => path);
        for (const [path, routes] of routesByPath) {
            const allow = methodsOf(routes);
            // For CORS, list only the methods of open routes, not all methods of the path.
            const openRoutes = routes.filter(({ settings: { app } }) => app?.isOpen ?? app?.contract?.auth !== 'required');
            const isOpen = openRoutes.length > 0;
            const refused: Omit<ServerRoute, 'method'> = {
                path,
                options: { app: { isOpen, isRefused: true } },
                handler: (request: Request, h: ResponseToolkit) => {
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
            };
            server.route(['*' as const, ...otherMethodsOf(path, routes)].map((method) => ({ ...refused, method })));
        }
    },
};

/**
 * Finds the methods that a fixed path lacks, but that a route with a parameter has: without a route of its own, `DELETE /a/b` would reach
 * `DELETE /a/{id}`.
 */
function methodsOfParameters(table: readonly RequestRoute[]): (path: string, routes: readonly RequestRoute[]) => Set<RouteDefMethods> {
    const withParameters = table
        .filter(({ path }) => path.endsWith('}'))
        .map(({ path, method }) => ({ form: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`), method: method as RouteDefMethods }));
    return (path, routes) => {
        if (path.includes('{')) return new Set();
        const others = withParameters.filter(({ form, method }) => form.test(path) && !routes.some((route) => route.method === method));
        return new Set(others.map(({ method }) => method));
    };
}

function methodsOf(routes: readonly RequestRoute[]): string {
    const methods = routes.flatMap(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));
    return [...methods, 'OPTIONS'].join(', ');
}
