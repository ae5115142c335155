import { answerTasks } from './answer-tasks.ts';

answerTasks();
