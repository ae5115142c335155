import { answerTasks } from '../../shared/platform/side-thread.ts';
import { doPackageTask, type PackageTask } from './tasks.ts';

answerTasks((task: PackageTask) => {
    const began = performance.now();
    const answer = doPackageTask(task);
    return { answer, ms: performance.now() - began };
});
