import { CONNECTION_GOALS } from './goals/connections.ts';
import { DATABASE_GOALS } from './goals/databases.ts';
import { FIND_GOALS } from './goals/find.ts';
import { ISOLATION_GOALS } from './goals/isolation.ts';
import { JOB_GOALS } from './goals/jobs.ts';
import { PERFORMANCE_GOALS } from './goals/performance.ts';
import type { GoalRow } from './goals/row.ts';
import { STRANGER_GOALS } from './strangers.ts';

/** All goals, in the order of the report. To add a scenario, add its rows to a file here and its round to scenarios/all.ts. */
export const GOALS: readonly GoalRow[] = [
    ...PERFORMANCE_GOALS,
    ...ISOLATION_GOALS,
    ...DATABASE_GOALS,
    ...STRANGER_GOALS,
    ...FIND_GOALS,
    ...JOB_GOALS,
    ...CONNECTION_GOALS,
];
