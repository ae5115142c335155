import { type BenchResults, medianOf } from '../results.ts';
import type { GoalRow } from './row.ts';
import { difference, join, of, ratio } from './values.ts';

const FETCHES = of('fetch_64', 'per_second');
const ONE_WORKER = of('workers_1', 'per_second');

/** Above this CPU share the machine is full, so more workers cannot help. */
const FULL = 0.9;
const fullMachine = (scenario: string) => (results: BenchResults) => {
    const busy = medianOf(results, scenario, 'busy_cores');
    const { cores = 0 } = results.rounds['fetches']?.machine ?? {};
    if (busy < FULL * cores) return undefined;
    return `${busy.toFixed(1)} of ${cores} cores were busy, ${medianOf(results, scenario, 'others_cores').toFixed(1)} with other work`;
};

/** P1 to P12: throughput, latency, memory and start of the production topology. */
export const PERFORMANCE_GOALS: readonly GoalRow[] = [
    {
        id: 'P1',
        shows: '64 fetches in flight, 1 API + 1 worker, Redis, durable ledger: throughput relative to bare got',
        unit: '',
        values: ratio(FETCHES, of('got_64', 'per_second')),
        goal: { atLeast: 0.38 },
        floor: { atLeast: 0.28 },
    },
    { id: 'P1', shows: 'the same, fetches', unit: '/s', values: FETCHES, goal: { atLeast: 2000 }, floor: { atLeast: 1200 } },
    {
        id: 'P2',
        shows: 'CPU per fetch of API, worker, Redis and PostgreSQL together, 64 in flight',
        unit: 'µs',
        values: of('fetch_64', 'cpu_us'),
        goal: { atMost: 850 },
        floor: { atMost: 1200 },
    },
    {
        id: 'P2',
        shows: "the same relative to bare got's CPU per call (on the machine that set the goals: goal 4.3, floor 6.0)",
        unit: '',
        values: ratio(of('fetch_64', 'cpu_us'), of('got_64', 'cpu_us')),
    },
    {
        id: 'P3',
        shows: 'one fetch at a time: p50 minus that of a direct call with got',
        unit: 'ms',
        values: difference(of('fetch_1', 'p50_ms'), of('got_1', 'p50_ms')),
        goal: { atMost: 2.5 },
        floor: { atMost: 5 },
    },
    {
        id: 'P3',
        shows: 'the same relative to that direct call (on the machine that set the goals: goal 11.9, floor 23.8)',
        unit: '',
        values: ratio(difference(of('fetch_1', 'p50_ms'), of('got_1', 'p50_ms')), of('got_1', 'p50_ms')),
    },
    {
        id: 'P3',
        shows: 'the same in one process with only PostgreSQL (embedded topology)',
        unit: 'ms',
        values: difference(of('embedded_1', 'p50_ms'), of('got_1', 'p50_ms')),
        goal: { atMost: 8 },
        floor: { atMost: 20 },
    },
    {
        id: 'P4',
        shows: 'p99 at 70 % of the highest rate, fast upstream',
        unit: 'ms',
        values: of('steady_fast', 'p99_ms'),
        goal: { atMost: 40 },
    },
    {
        id: 'P4',
        shows: 'p99 at 70 % of the highest rate, 50 ms upstream',
        unit: 'ms',
        values: of('steady_slow', 'p99_ms'),
        goal: { atMost: 85 },
    },
    {
        id: 'P5',
        shows: '2 workers, 50 ms upstream, 16 slots each: share of twice the throughput of 1',
        unit: '',
        values: join(of('workers_2', 'per_second'), ONE_WORKER, (two, one) => two / one / 2),
        goal: { atLeast: 0.9 },
        excuse: fullMachine('workers_2'),
    },
    {
        id: 'P5',
        shows: '4 workers: share of four times the throughput of 1',
        unit: '',
        values: join(of('workers_4', 'per_second'), ONE_WORKER, (four, one) => four / one / 4),
        goal: { atLeast: 0.9 },
        excuse: fullMachine('workers_4'),
    },
    { id: 'P7', shows: 'look-up among 100,000 sites at 500/s: p50', unit: 'ms', values: of('look_up_100k', 'p50_ms'), goal: { atMost: 2 } },
    { id: 'P7', shows: 'the same, p99', unit: 'ms', values: of('look_up_100k', 'p99_ms'), goal: { atMost: 15 } },
    {
        id: 'P7',
        shows: 'look-up: p50 among 100,000 sites relative to 1,000',
        unit: '',
        values: ratio(of('look_up_100k', 'p50_ms'), of('look_up_1k', 'p50_ms')),
        goal: { atMost: 1.5 },
    },
    { id: 'P7', shows: 'card among 100,000 sites at 500/s: p99', unit: 'ms', values: of('card_100k', 'p99_ms') },
    {
        id: 'P7',
        shows: 'card: p50 among 100,000 sites relative to 1,000',
        unit: '',
        values: ratio(of('card_100k', 'p50_ms'), of('card_1k', 'p50_ms')),
        goal: { atMost: 1.5 },
    },
    { id: 'P7', shows: 'search among 100,000 sites at 200/s: p99', unit: 'ms', values: of('search_100k', 'p99_ms'), goal: { atMost: 50 } },
    { id: 'P7', shows: 'the same, p50', unit: 'ms', values: of('search_100k', 'p50_ms') },
    { id: 'P7', shows: 'search among 1,000 sites at 200/s: p99', unit: 'ms', values: of('search_1k', 'p99_ms') },
    {
        id: 'P7',
        shows: 'search: p50 among 100,000 sites relative to 1,000',
        unit: '',
        values: ratio(of('search_100k', 'p50_ms'), of('search_1k', 'p50_ms')),
        goal: { atMost: 1.5 },
    },
    {
        id: 'P8',
        shows: 'publish of a package of 100 endpoints among 100,000 sites: p50',
        unit: 'ms',
        values: of('publish_100k', 'p50_ms'),
        goal: { atMost: 40 },
    },
    { id: 'P8', shows: 'the same among 1,000 sites', unit: 'ms', values: of('publish_1k', 'p50_ms') },
    {
        id: 'P8',
        shows: 'publish: p50 among 100,000 sites relative to 1,000',
        unit: '',
        values: ratio(of('publish_100k', 'p50_ms'), of('publish_1k', 'p50_ms')),
        goal: { atMost: 1.5 },
    },
    { id: 'P9', shows: 'memory of an idle API', unit: 'MB', values: of('memory', 'api_idle_mb'), goal: { atMost: 120 } },
    { id: 'P9', shows: 'memory of an idle worker', unit: 'MB', values: of('memory', 'worker_idle_mb'), goal: { atMost: 120 } },
    { id: 'P9', shows: 'memory of the API under load', unit: 'MB', values: of('memory', 'api_loaded_mb'), goal: { atMost: 300 } },
    { id: 'P9', shows: 'memory of the worker under load', unit: 'MB', values: of('memory', 'worker_loaded_mb'), goal: { atMost: 300 } },
    {
        id: 'P9',
        shows: 'memory of the API with 1,000 fetches in flight',
        unit: 'MB',
        values: of('memory', 'api_waiting_mb'),
        goal: { atMost: 300 },
    },
    {
        id: 'P9',
        shows: 'memory of the worker with 1,000 slots in flight',
        unit: 'MB',
        values: of('memory', 'worker_waiting_mb'),
        goal: { atMost: 300 },
    },
    { id: 'P10', shows: 'start of an API until ready', unit: 'ms', values: of('starts', 'api_ms'), goal: { atMost: 1500 } },
    { id: 'P10', shows: 'start of a worker until ready', unit: 'ms', values: of('starts', 'worker_ms'), goal: { atMost: 1500 } },
    { id: 'P10', shows: '`npm start` warm, until ready', unit: 'ms', values: of('starts', 'npm_start_ms'), goal: { atMost: 4000 } },
    { id: 'P11', shows: 'rate limit: one step in Redis, with leases', unit: 'µs', values: of('parts', 'limit_us'), goal: { atMost: 60 } },
    { id: 'P11', shows: 'key check, cached', unit: 'µs', values: of('parts', 'key_us'), goal: { atMost: 5 } },
    { id: 'P11', shows: 'egress guard', unit: 'µs', values: of('parts', 'guard_us'), goal: { atMost: 50 } },
    { id: 'P11', shows: 'validation of body and params', unit: 'µs', values: of('parts', 'validation_us'), goal: { atMost: 100 } },
    {
        id: 'P12',
        shows: 'with 10,000 accounts, 1,000,000 ledger rows and 10,000,000 usage rows relative to an empty database: fetches/s at 64 in flight',
        unit: '',
        values: ratio(of('growth', 'grown_64_per_second'), of('growth', 'empty_64_per_second')),
        goal: { atLeast: 0.9 },
    },
    {
        id: 'P12',
        shows: 'the same, CPU per fetch',
        unit: '',
        values: ratio(of('growth', 'grown_64_cpu_us'), of('growth', 'empty_64_cpu_us')),
        goal: { atMost: 1.1 },
    },
    {
        id: 'P12',
        shows: 'the same, p50 of one at a time',
        unit: '',
        values: ratio(of('growth', 'grown_1_p50_ms'), of('growth', 'empty_1_p50_ms')),
        goal: { atMost: 1.1 },
    },
    {
        id: 'P12',
        shows: 'the same, p99 at 70 % of the highest rate',
        unit: '',
        values: ratio(of('growth', 'grown_steady_p99_ms'), of('growth', 'empty_steady_p99_ms')),
        goal: { atMost: 1.1 },
    },
];
