import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { HTTP_METHODS, RequestRoute, Server } from '@hapi/hapi';
import type { AppPlugin } from '../plugins/plugin.ts';
import { browseThrottling } from './browse-throttling.ts';
import type { Arrival, Check } from './check.ts';
import { clientPacing } from './client-pacing.ts';
import { clientReads } from './client-reads.ts';
import { eventLoopTurns } from './event-loop-turns.ts';
import { invalidKeyThrottling } from './invalid-keys.ts';
import { overload } from './overload.ts';
import { serialQueue } from './serial-queue.ts';

/** The checks that a request passes before hapi, in this order. */
export const gate: AppPlugin = {
    name: 'gate',
    register(server, { app }) {
        const pacing = clientPacing(app);
        installGate(server, [
            serialQueue(),
            pacing.check,
            // A delayed rejection takes no slot of a read.
            invalidKeyThrottling(app, pacing),
            clientReads(server, app),
            browseThrottling(server, app),
            overload(server, app),
            eventLoopTurns(app),
        ]);
    },
};

/**
 * Runs these checks in order before a request reaches hapi. A refusal here costs a tenth of a refusal in hapi, so a process survives five
 * times its maximum load (decision 13).
 */
export function installGate(server: Server, checks: readonly Check[]): void {
    const { listener } = server;
    // With `Expect: 100-continue` Node emits the other event.
    for (const event of ['request', 'checkContinue']) {
        const hapi = listener.listeners(event) as RequestListener[];
        listener.removeAllListeners(event);
        listener.on(event, (request: IncomingMessage, response: ServerResponse) => {
            const arrival = arrivalOf(server, request, response);
            const step = (index: number): void => {
                const check = checks[index];
                if (check !== undefined) check(arrival, () => step(index + 1));
                else for (const serve of hapi) serve(request, response as Parameters<RequestListener>[1]);
            };
            step(0);
        });
    }
}

/** Its route is looked up once a check asks for it: most requests of a connection that pipelines too many never get that far. */
function arrivalOf(server: Server, request: IncomingMessage, response: ServerResponse): Arrival {
    let found: { route: RequestRoute | undefined } | undefined;
    const route = () => {
        found ??= { route: routeOf(server, request) };
        return found.route;
    };
    return {
        request,
        response,
        get path() {
            return route()?.path;
        },
        get contract() {
            return route()?.settings.app?.contract;
        },
    };
}

/** The route that hapi will choose, also by another spelling of its path. Undefined if there is none. */
function routeOf(server: Server, { method = '', url = '' }: IncomingMessage): RequestRoute | undefined {
    const [written = ''] = url.split(/[?#]/, 1);
    // Only an unusual path needs a parser: one with escapes, dot segments or an origin.
    const path = /^\/[^%]*$/.test(written) && !written.includes('/.') ? written : plainPath(url);
    try {
        return server.match(method as HTTP_METHODS, path) ?? undefined;
    } catch {
        // hapi answers broken paths with 400.
        return undefined;
    }
}

/** The path with the characters decoded that routes are named with, then with dot segments resolved, exactly as hapi reads it. */
function plainPath(url: string): string {
    const written = url.startsWith('/') ? url.replace(/[?#].*$/s, '') : (URL.parse(url)?.pathname ?? '');
    const path = written.replaceAll(/%(?:2[DE]|3\d|[46][1-9A-F]|[57][\dA]|5F)/gi, (escaped) => decodeURIComponent(escaped));
    if (!path.includes('/.')) return path;
    const segments: string[] = [];
    for (const segment of path.split('/')) {
        if (segment === '..') segments.pop();
        else if (segment !== '.') segments.push(segment);
    }
    if (/\/\.\.?$/.test(path)) segments.push('');
    const resolved = segments.join('/');
    return resolved.startsWith('/') ? resolved : `/${resolved}`;
}
