import type { GoalRow } from './row.ts';
import { of, ratio, timeAtGot } from './values.ts';

/** F1, F2: search by task. */
export const FIND_GOALS: readonly GoalRow[] = [
    {
        id: 'F1',
        shows: 'labelled tasks with the starter registry: the right endpoint is among the first five',
        unit: '',
        values: of('find_tasks', 'first_five'),
        goal: { atLeast: 0.95 },
    },
    { id: 'F1', shows: 'the same: it is the first', unit: '', values: of('find_tasks', 'first'), goal: { atLeast: 0.8 } },
    {
        id: 'F1',
        shows: 'held-out tasks: it is among the first five',
        unit: '',
        values: of('find_tasks', 'held_out_first_five'),
    },
    { id: 'F1', shows: 'the same: it is the first (held-out tasks)', unit: '', values: of('find_tasks', 'held_out_first') },
    {
        id: 'F1',
        shows: 'tasks without a matching endpoint: the list is empty',
        unit: '',
        values: of('find_tasks', 'empty'),
        goal: { atLeast: 0.9 },
    },
    {
        id: 'F2',
        shows: 'find among 1,000,000 endpoints of 100,000 sites at 200/s: p50',
        unit: 'ms',
        values: of('find_1m', 'p50_ms'),
        goal: { atMost: 10 },
    },
    { id: 'F2', shows: 'the same, p99', unit: 'ms', values: of('find_1m', 'p99_ms'), goal: { atMost: 50 } },
    { id: 'F2', shows: 'the same: CPU a find, without the load generator', unit: 'µs', values: of('find_1m', 'cpu_us') },
    { id: 'F2', shows: 'the same: failed of 1,000', unit: '', values: of('find_1m', 'failed_per_1000') },
    {
        id: 'F2',
        shows: 'rate and times scaled to a machine where bare got takes 210 µs: p50',
        unit: 'ms',
        values: timeAtGot(of('find_scaled', 'p50_ms'), of('find_scaled', 'got_us')),
        goal: { atMost: 10 },
    },
    {
        id: 'F2',
        shows: 'the same, p99 (scaled)',
        unit: 'ms',
        values: timeAtGot(of('find_scaled', 'p99_ms'), of('find_scaled', 'got_us')),
        goal: { atMost: 50 },
    },
    { id: 'F2', shows: 'the same: finds offered (scaled)', unit: '/s', values: of('find_scaled', 'offered_per_second') },
    { id: 'F2', shows: 'the same: failed of 1,000 (scaled)', unit: '', values: of('find_scaled', 'failed_per_1000') },
    { id: 'F2', shows: 'the same: CPU of bare got', unit: 'µs', values: of('find_scaled', 'got_us') },
    {
        id: 'F2',
        shows: 'publish of 100 endpoints with a worker that indexes them, relative to publishing without an index: p50',
        unit: '',
        values: ratio(of('publish_indexed', 'p50_ms'), of('publish_unindexed', 'p50_ms')),
        goal: { atMost: 1.5 },
    },
];
