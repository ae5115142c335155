import type { GoalRow } from './row.ts';
import { of, ratio } from './values.ts';

/** S1, S2: databases other than the embedded one. */
export const DATABASE_GOALS: readonly GoalRow[] = [
    {
        id: 'S1',
        shows: "Debian's PostgreSQL 15 with default settings relative to the embedded one, 64 fetches in flight: throughput",
        unit: '',
        values: ratio(of('stock', 'debian_64_per_second'), of('stock', 'embedded_64_per_second')),
        goal: { atLeast: 0.95 },
    },
    {
        id: 'S1',
        shows: 'the same, one fetch at a time: p50',
        unit: '',
        values: ratio(of('stock', 'debian_1_p50_ms'), of('stock', 'embedded_1_p50_ms')),
        goal: { atMost: 1.15 },
    },
    {
        id: 'S1',
        shows: 'the same through PgBouncer in transaction mode: p50',
        unit: '',
        values: ratio(of('stock', 'pooled_1_p50_ms'), of('stock', 'embedded_1_p50_ms')),
        goal: { atMost: 1.3 },
    },
    {
        id: 'S1',
        shows: 'through PgBouncer, 64 fetches in flight: throughput relative to the embedded one',
        unit: '',
        values: ratio(of('stock', 'pooled_64_per_second'), of('stock', 'embedded_64_per_second')),
    },
    {
        id: 'S2',
        shows: "functions that Debian's PostgreSQL compiled with JIT, one fetch at a time",
        unit: '',
        values: of('stock_sql', 'compiled'),
        goal: { atMost: 0 },
    },
    {
        id: 'S2',
        shows: 'mean time of the slowest statement of a fetch on it',
        unit: 'ms',
        values: of('stock_sql', 'slowest_mean_ms'),
        goal: { atMost: 1 },
    },
    { id: 'S2', shows: 'all statements of a fetch on it, together', unit: 'ms', values: of('stock_sql', 'ms_per_fetch') },
];
