import { answerTasks } from './answer-tasks.ts';
import { parseHtml } from './html.ts';
import { readForm } from './read-form.ts';

answerTasks({ parse: parseHtml, readForm });
