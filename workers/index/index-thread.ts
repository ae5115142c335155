import { indexPackage } from '../../shared/domain/find/index-package.ts';
import { lowerThreadPriority, PACKAGE_CHECK_NICENESS } from '../../shared/platform/low-priority.ts';
import { shippedPhrases } from '../../shared/platform/phrases.ts';
import { answerTasks } from '../../shared/platform/side-thread.ts';

lowerThreadPriority(PACKAGE_CHECK_NICENESS);
answerTasks(({ text }: { text: string }) => indexPackage(text, shippedPhrases()));
