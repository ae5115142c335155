import type { GoalRow } from './row.ts';
import { of, ratio } from './values.ts';

/** C1: the cost of a connection. */
export const CONNECTION_GOALS: readonly GoalRow[] = [
    {
        id: 'C1',
        shows: 'CPU per fetch with a connection of all processes, relative to the same call without one, 64 in flight',
        unit: '',
        values: ratio(of('connections', 'with_cpu_us'), of('connections', 'without_cpu_us')),
        goal: { atMost: 1.1 },
    },
];
