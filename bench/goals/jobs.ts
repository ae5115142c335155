import type { GoalRow } from './row.ts';
import { againstIdle, of, rateAtGot, ratio, timeAtGot } from './values.ts';

/** J1 to J3, W1: batches, jobs and webhooks. */
export const JOB_GOALS: readonly GoalRow[] = [
    {
        id: 'J1',
        shows: 'CPU per batch item of all processes, from creation to end, relative to a live fetch at 64 in flight',
        unit: '',
        values: ratio(of('batch_items', 'cpu_us'), of('batch_live_64', 'cpu_us')),
        goal: { atMost: 0.6 },
    },
    {
        id: 'J1',
        shows: 'batch items a second, relative to live fetches at 64 in flight',
        unit: '',
        values: ratio(of('batch_items', 'per_second'), of('batch_live_64', 'per_second')),
        goal: { atLeast: 1.5 },
    },
    {
        id: 'J2',
        shows: 'a batch of 100,000 ndjson lines: time until it is accepted',
        unit: 'ms',
        values: of('batch_lines', 'accepted_ms'),
        goal: { atMost: 10_000 },
    },
    {
        id: 'J2',
        shows: 'the same, scaled to a machine where bare got takes 210 µs',
        unit: 'ms',
        values: timeAtGot(of('batch_lines', 'accepted_ms'), of('batch_got', 'cpu_us')),
        goal: { atMost: 10_000 },
    },
    {
        id: 'J2',
        shows: 'the same: memory added to the API',
        unit: 'MB',
        values: of('batch_lines', 'api_more_mb'),
        goal: { atMost: 64 },
    },
    {
        id: 'J2',
        shows: 'a batch of 20,000 items that runs: memory added to the worker',
        unit: 'MB',
        values: of('batch_items', 'worker_more_mb'),
    },
    {
        id: 'J2',
        shows: 'results of a batch, read as ndjson',
        unit: '/s',
        values: of('batch_items', 'results_per_second'),
        goal: { atLeast: 20_000 },
    },
    {
        id: 'J2',
        shows: 'the same, scaled to a machine where bare got takes 210 µs (results)',
        unit: '/s',
        values: rateAtGot(of('batch_items', 'results_per_second'), of('batch_got', 'cpu_us')),
        goal: { atLeast: 20_000 },
    },
    { id: 'J2', shows: 'CPU of bare got in this round', unit: 'µs', values: of('batch_got', 'cpu_us') },
    {
        id: 'J3',
        shows: 'p99 of live fetches during a batch of the same account that fills the worker, relative to alone',
        unit: '',
        values: againstIdle('batch_beside'),
        goal: { atMost: 1.5 },
    },
    {
        id: 'J3',
        shows: 'the same for live fetches of another account',
        unit: '',
        values: ratio(of('batch_beside', 'other_p99_ms'), of('batch_beside', 'alone_p99_ms')),
        goal: { atMost: 1.5 },
    },
    {
        id: 'J3',
        shows: 'first job of an account behind 1,000,000 items of another one: longest time until it starts, of five',
        unit: 'ms',
        values: of('batch_behind', 'first_ms'),
        goal: { atMost: 1000 },
    },
    {
        id: 'W1',
        shows: 'p99 from an event to 48 good receivers of 50 at 1,000 events a second, with one that hangs and one that fails, relative to alone',
        unit: '',
        values: againstIdle('webhooks_beside'),
        goal: { atMost: 1.2 },
    },
    {
        id: 'W1',
        shows: 'events recorded a second meanwhile',
        unit: '/s',
        values: of('webhooks_beside', 'per_second'),
        goal: { atLeast: 950 },
    },
    {
        id: 'W1',
        shows: 'events lost over 20 deaths of the worker',
        unit: '',
        values: of('webhooks_killed', 'lost'),
        goal: { atMost: 0 },
    },
];
