import { readAnswers } from './answer-tasks.ts';
import { parseHtml } from './html.ts';
import { readForm } from './read-form.ts';

readAnswers({ parse: parseHtml, readForm });
