import { answerTasks } from './answer-tasks.ts';
import { readHtmlBody } from './html.ts';

answerTasks(readHtmlBody);
