import { startApi } from '../api/start-api.ts';
import { collectGarbage } from './memory.ts';
import { runProcess } from './run-process.ts';

await runProcess('api', async (app, cleanup) => {
    const api = await startApi(app);
    cleanup.add('api', () => api.stop(), { timeoutMs: app.config.shutdownGraceMs });
    collectGarbage();
    app.log.info({ url: app.publicUrl() }, `routebook ready on ${app.publicUrl()}`);
});
