import { indexPackage } from '../../shared/domain/find/index-package.ts';
import { BESIDE_THE_LOOP, lowerThreadPriority } from '../../shared/platform/low-priority.ts';
import { shippedPhrases } from '../../shared/platform/phrases.ts';
import { answerTasks } from '../../shared/platform/side-thread.ts';

lowerThreadPriority(BESIDE_THE_LOOP);
answerTasks(({ text }: { text: string }) => indexPackage(text, shippedPhrases()));
