import { lowerThreadPriority, PACKAGE_CHECK_NICENESS } from '../../shared/platform/low-priority.ts';
import { answerTasks } from '../../shared/platform/side-thread.ts';
import { doPackageTask, type PackageTask } from './tasks.ts';

lowerThreadPriority(PACKAGE_CHECK_NICENESS);
answerTasks((task: PackageTask) => {
    const began = performance.now();
    const answer = doPackageTask(task);
    return { answer, ms: performance.now() - began };
});
