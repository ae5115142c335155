import { setFlagsFromString } from 'node:v8';
import { startApi } from '../api/start-api.ts';
import { collectGarbage } from './memory.ts';
import { runProcess } from './run-process.ts';

await runProcess('api', async (app, cleanup) => {
    const api = await startApi(app);
    cleanup.add('api', () => api.stop(), { timeoutMs: app.config.shutdownGraceMs });
    collectGarbage();
    // What many callers read leaves garbage in the old generation, which V8 would let grow fourfold: 260 -> 200 MB (bench/PROFILE.md).
    setFlagsFromString('--heap-growing-percent=100');
    app.log.info({ url: app.publicUrl() }, `routebook ready on ${app.publicUrl()}`);
});
