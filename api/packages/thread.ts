import { parentPort } from 'node:worker_threads';
import { BESIDE_THE_LOOP, lowerThreadPriority } from '../../shared/platform/low-priority.ts';
import type { ThreadMessage } from '../../shared/platform/side-thread.ts';
import { doPackageTask, type PackageTask } from './tasks.ts';

lowerThreadPriority(BESIDE_THE_LOOP);

const say = (message: ThreadMessage) => parentPort?.postMessage(message);

parentPort?.on('message', (task: PackageTask) => {
    try {
        const began = performance.now();
        const answer = doPackageTask(task);
        say({ answer: { answer, ms: performance.now() - began } });
    } catch (error) {
        say({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
});
say('ready');
