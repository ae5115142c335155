import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../shared/app.ts';
import { ANONYMOUS } from '../shared/domain/accounts/plans.ts';
import { connect } from '../shared/health/connect.ts';
import { listenFault } from '../shared/platform/listen-fault.ts';
import { gatherSharedState } from './health/shared-gauges.ts';
import { buildServer } from './server.ts';

/** Requests in flight must end this long before the shutdown grace period ends. */
const STOP_MARGIN_MS = 500;
const LOOK_AGAIN_MS = 20;
/** After a stop, a new connection may take this long to send its request. */
const FIRST_REQUEST_MS = 500;

/** Starts listening. `stop` answers what is in flight and accepts nothing new. @throws ConfigFault if it cannot listen on HOST and PORT */
export async function startApi(app: App): Promise<{ port: number; stop(): Promise<void> }> {
    gatherSharedState(app);
    const server = await buildServer(app);
    await connect(warmUps(app));
    const newcomers = watchNewcomers(server.listener);
    await server.start().catch(async (error: unknown) => {
        throw await listenFault(error, { name: 'PORT', port: app.config.port, host: app.config.host });
    });
    const port = Number(server.info.port);
    app.setPort(port);
    return {
        port,
        async stop() {
            app.drain();
            await newcomers.settle();
            await server.stop({ timeout: Math.max(1000, app.config.shutdownGraceMs - STOP_MARGIN_MS) });
        },
    };
}

/** On a stop, hapi closes new connections whose request has not arrived yet. So we stop listening first, and wait for these requests. */
function watchNewcomers(listener: Server): { settle(): Promise<void> } {
    const silent = new Set<Socket>();
    listener.on('connection', (socket: Socket) => {
        silent.add(socket);
        socket.once('close', () => silent.delete(socket));
    });
    listener.on('request', ({ socket }: IncomingMessage) => silent.delete(socket));
    return {
        async settle() {
            // The kernel would reset connections that it has accepted, so we accept them before closing the listener.
            await nextTurn();
            listener.close();
            const until = performance.now() + FIRST_REQUEST_MS;
            while (silent.size > 0 && performance.now() < until) await sleep(LOOK_AGAIN_MS);
        },
    };
}

/** Opens the connections and prepared queries that every fetch uses. */
function warmUps(app: App): (() => PromiseLike<unknown>)[] {
    return [
        () => app.db.raw('select 1'),
        () => app.credits.stateOf('op_nobody'),
        () => app.secrets.hmac('', 'start'),
        // Pings twice: the first ping waits for the connection, so it compares the clocks only roughly.
        () => app.queue.ping().then(app.queue.ping),
        () => app.limits.peek('ip:nobody', [ANONYMOUS], 'nobody'),
    ];
}
