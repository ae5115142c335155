import { startRollUps } from '../workers/roll-up.ts';
import { startSweeper } from '../workers/sweep.ts';
import { startVerifier } from '../workers/verify.ts';
import { openWorker } from '../workers/worker.ts';
import { collectGarbage } from './memory.ts';
import { runProcess } from './run-process.ts';

await runProcess('worker', async (app, cleanup) => {
    cleanup.add('sweeper', startSweeper(app).stop);
    cleanup.add('roll-ups', startRollUps(app).stop);
    collectGarbage();
    const worker = await openWorker(app);
    const close = () => {
        app.drain();
        return worker.close();
    };
    cleanup.add('worker', close, { timeoutMs: app.config.shutdownGraceMs });
    cleanup.add('verifier', startVerifier(app).stop);
});
