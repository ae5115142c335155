import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../shared/app.ts';
import { ANONYMOUS } from '../shared/domain/plans.ts';
import { isUp } from '../shared/is-up.ts';
import { listenFault } from '../shared/listen-fault.ts';
import { gatherSharedState } from './gather-shared-state.ts';
import { buildServer } from './server.ts';

/** Requests in flight may finish this much before the process must be gone. */
const STOP_MARGIN_MS = 500;
/** Connections have so long to open before we listen without them. */
const CONNECT_MS = 1000;
const LOOK_AGAIN_MS = 20;
/** After a stop, who has just connected has so long to send a request. */
const FIRST_REQUEST_MS = 500;

/**
 * Listens; `stop` lets the requests in flight end, takes no new ones, and resolves when all are answered.
 * @throws ConfigFault where it cannot listen on HOST and PORT
 */
export async function startApi(app: App): Promise<{ port: number; stop(): Promise<void> }> {
    gatherSharedState(app);
    const server = buildServer(app);
    await connect(app);
    const newcomers = watchNewcomers(server.listener);
    await server.start().catch((error: unknown) => {
        throw listenFault(error, { name: 'PORT', port: app.config.port });
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

/**
 * hapi ends every connection that has no request yet when it stops, also those that were opened a moment ago and whose request is on
 * its way. So we stop listening first, and let these be heard.
 */
function watchNewcomers(listener: Server): { settle(): Promise<void> } {
    const silent = new Set<Socket>();
    listener.on('connection', (socket: Socket) => {
        silent.add(socket);
        socket.once('close', () => silent.delete(socket));
    });
    listener.on('request', ({ socket }: IncomingMessage) => silent.delete(socket));
    return {
        async settle() {
            // Whom the kernel has let in already would be reset: they are taken first.
            await nextTurn();
            listener.close();
            const patience = performance.now() + FIRST_REQUEST_MS;
            while (silent.size > 0 && performance.now() < patience) await sleep(LOOK_AGAIN_MS);
        },
    };
}

/** The first callers must not be refused because a connection is a few milliseconds away; an outage does not keep us from browsing. */
async function connect(app: App): Promise<void> {
    const patience = performance.now() + CONNECT_MS;
    const parts = [
        () => app.db.raw('select 1'),
        () => app.credits.stateOf('op_nobody'),
        () => app.secrets.hmac('', 'start'),
        () => app.queue.ping(),
        () => app.limits.peek('ip:nobody', [ANONYMOUS], 'nobody'),
    ];
    const waitFor = async (part: () => PromiseLike<unknown>) => {
        while (!(await isUp(part)) && performance.now() < patience) await sleep(LOOK_AGAIN_MS);
    };
    await Promise.all(parts.map(waitFor));
}
