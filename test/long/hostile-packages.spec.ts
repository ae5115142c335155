import { describeAgent } from '../hostile/matrix/agent.ts';
import { describeApi } from '../hostile/matrix/api.ts';
import { describeCommandLine } from '../hostile/matrix/command-line.ts';
import { describeFetches } from '../hostile/matrix/fetch.ts';
import { describePage } from '../hostile/matrix/page.ts';
import { ALL_ROWS } from '../hostile/matrix/rows.ts';
import { describeVerification } from '../hostile/matrix/verification.ts';

describe('every hostile package by a fetch, at three scales (X1)', () => describeFetches(ALL_ROWS));
describe('every hostile package by a verification run, at three scales (X1)', () => describeVerification(ALL_ROWS));
describe('every hostile package by the command line, at three scales (X1)', () => describeCommandLine(ALL_ROWS));
describe('every hostile package by an agent, at three scales (X1)', () => describeAgent(ALL_ROWS));
describe('every hostile package by a page, at three scales (X1)', () => describePage(ALL_ROWS));
describe('every package that takes long to check, at an API (X1)', () => describeApi(ALL_ROWS));
