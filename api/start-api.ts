import type { App } from '../shared/app.ts';
import { gatherSharedState } from './gather-shared-state.ts';
import { buildServer } from './server.ts';

/** Requests in flight may finish this much before the process must be gone. */
const STOP_MARGIN_MS = 500;

/** Listens; `stop` lets the requests in flight end, takes no new ones, and resolves when all are answered. */
export async function startApi(app: App): Promise<{ port: number; stop(): Promise<void> }> {
    gatherSharedState(app);
    const server = buildServer(app);
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
