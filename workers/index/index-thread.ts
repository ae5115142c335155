import { indexPackage } from '../../shared/domain/find/index-package.ts';
import { shippedPhrases, shippedWordVectors } from '../../shared/platform/phrases.ts';
import { answerTasks } from '../../shared/platform/side-thread.ts';

answerTasks(({ text }: { text: string }) => indexPackage(text, shippedPhrases(), shippedWordVectors()));
