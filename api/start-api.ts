import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../shared/app.ts';
import { ANONYMOUS } from '../shared/domain/plans.ts';
import { gatherSharedState } from './gather-shared-state.ts';
import { isUp } from './health/check-health.ts';
import { buildServer } from './server.ts';

/** Requests in flight may finish this much before the process must be gone. */
const STOP_MARGIN_MS = 500;
/** Connections have so long to open before we listen without them. */
const CONNECT_MS = 1000;
const LOOK_AGAIN_MS = 20;

/** Listens; `stop` lets the requests in flight end, takes no new ones, and resolves when all are answered. */
export async function startApi(app: App): Promise<{ port: number; stop(): Promise<void> }> {
    gatherSharedState(app);
    const server = buildServer(app);
    await connect(app);
    await server.start();
    const port = Number(server.info.port);
    app.setPort(port);
    return {
        port,
        async stop() {
            app.drain();
            await server.stop({ timeout: Math.max(1000, app.config.shutdownGraceMs - STOP_MARGIN_MS) });
        },
    };
}

/** The first callers must not be refused because a connection is a few milliseconds away; an outage does not keep us from browsing. */
async function connect(app: App): Promise<void> {
    const patience = performance.now() + CONNECT_MS;
    const parts = [() => app.db.raw('select 1'), () => app.queue.ping(), () => app.limits.peek('ip:nobody', [ANONYMOUS], 'nobody')];
    const waitFor = async (part: () => PromiseLike<unknown>) => {
        while (!(await isUp(part)) && performance.now() < patience) await sleep(LOOK_AGAIN_MS);
    };
    await Promise.all(parts.map(waitFor));
}
