import { readAnswers } from './answer-tasks.ts';

readAnswers();
