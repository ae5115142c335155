import { type BenchResults, medianOf, repetitionsOf } from './results.ts';
import { STRANGER_GOALS } from './strangers.ts';

/** One line of the table of goals: what is measured, and what it has to be. */
export interface GoalRow {
    id: string;
    shows: string;
    unit: '' | '/s' | 'ms' | 'µs' | 'MB';
    /** The figure in each repetition. */
    values: (results: BenchResults) => number[];
    /** Absent: for information. */
    goal?: Bound;
    floor?: Bound;
    /** Why a goal that is missed does not count in this run. */
    excuse?: (results: BenchResults) => string | undefined;
}

export type Bound = { atLeast: number } | { atMost: number };

/** A figure of a scenario, and two of them put together repetition by repetition, since those ran one after the other. */
const of = (scenario: string, figure: string) => (results: BenchResults) => repetitionsOf(results, scenario, figure);
type Values = GoalRow['values'];
const join = (one: Values, other: Values, how: (a: number, b: number) => number): Values => {
    return (results) => {
        const others = other(results);
        return one(results).map((value, place) => how(value, others[place] ?? Number.NaN));
    };
};
const ratio = (one: Values, other: Values) => join(one, other, (a, b) => a / b);
const difference = (one: Values, other: Values) => join(one, other, (a, b) => a - b);

const FETCHES = of('fetch_64', 'per_second');
const ONE_WORKER = of('workers_1', 'per_second');

/** The p99 of a good site beside a nuisance, against that with nothing beside it right before. */
const againstIdle = (scenario: string) => ratio(of(scenario, 'p99_ms'), of(scenario, 'alone_p99_ms'));

/** Beyond this part of the machine there is nothing left to be linear with. */
const FULL = 0.9;
const fullMachine = (scenario: string) => (results: BenchResults) => {
    const busy = medianOf(results, scenario, 'busy_cores');
    const { cores = 0 } = results.rounds['fetches']?.machine ?? {};
    if (busy < FULL * cores) return undefined;
    return `${busy.toFixed(1)} of ${cores} cores were busy, ${medianOf(results, scenario, 'others_cores').toFixed(1)} with other work`;
};

/** The goals of performance, in their order. A new scenario adds its rows here and its run to scenarios/all.ts. */
export const GOALS: readonly GoalRow[] = [
    {
        id: 'P1',
        shows: '64 fetches in flight, 1 API + 1 worker, Redis, durable ledger: throughput against bare got',
        unit: '',
        values: ratio(FETCHES, of('got_64', 'per_second')),
        goal: { atLeast: 0.38 },
        floor: { atLeast: 0.28 },
    },
    { id: 'P1', shows: 'the same, fetches', unit: '/s', values: FETCHES, goal: { atLeast: 2000 }, floor: { atLeast: 1200 } },
    {
        id: 'P2',
        shows: 'CPU per fetch over API, worker, Redis and PostgreSQL at 64 in flight',
        unit: 'µs',
        values: of('fetch_64', 'cpu_us'),
        goal: { atMost: 850 },
        floor: { atMost: 1200 },
    },
    {
        id: 'P2',
        shows: "the same in units of bare got's own CPU per call (where the goals were measured: goal 4.3, floor 6.0)",
        unit: '',
        values: ratio(of('fetch_64', 'cpu_us'), of('got_64', 'cpu_us')),
    },
    {
        id: 'P3',
        shows: 'one fetch at a time: p50 above the direct call by got',
        unit: 'ms',
        values: difference(of('fetch_1', 'p50_ms'), of('got_1', 'p50_ms')),
        goal: { atMost: 2.5 },
        floor: { atMost: 5 },
    },
    {
        id: 'P3',
        shows: 'the same in units of that direct call (where the goals were measured: goal 11.9, floor 23.8)',
        unit: '',
        values: ratio(difference(of('fetch_1', 'p50_ms'), of('got_1', 'p50_ms')), of('got_1', 'p50_ms')),
    },
    {
        id: 'P3',
        shows: 'the same in one process over PostgreSQL alone (embedded topology)',
        unit: 'ms',
        values: difference(of('embedded_1', 'p50_ms'), of('got_1', 'p50_ms')),
        goal: { atMost: 8 },
        floor: { atMost: 20 },
    },
    {
        id: 'P4',
        shows: 'p99 at 70 % of the greatest rate, fast upstream',
        unit: 'ms',
        values: of('steady_fast', 'p99_ms'),
        goal: { atMost: 40 },
    },
    {
        id: 'P4',
        shows: 'p99 at 70 % of the greatest rate, 50 ms upstream',
        unit: 'ms',
        values: of('steady_slow', 'p99_ms'),
        goal: { atMost: 85 },
    },
    {
        id: 'P5',
        shows: '2 workers against 1, 50 ms upstream, 16 slots each: share of twice the throughput',
        unit: '',
        values: join(of('workers_2', 'per_second'), ONE_WORKER, (two, one) => two / one / 2),
        goal: { atLeast: 0.9 },
        excuse: fullMachine('workers_2'),
    },
    {
        id: 'P5',
        shows: '4 workers against 1: share of four times the throughput',
        unit: '',
        values: join(of('workers_4', 'per_second'), ONE_WORKER, (four, one) => four / one / 4),
        goal: { atLeast: 0.9 },
        excuse: fullMachine('workers_4'),
    },
    { id: 'P7', shows: 'look-up among 100,000 sites at 500/s: p50', unit: 'ms', values: of('look_up_100k', 'p50_ms'), goal: { atMost: 2 } },
    { id: 'P7', shows: 'the same, p99', unit: 'ms', values: of('look_up_100k', 'p99_ms'), goal: { atMost: 15 } },
    {
        id: 'P7',
        shows: 'look-up: p50 among 100,000 sites against 1,000',
        unit: '',
        values: ratio(of('look_up_100k', 'p50_ms'), of('look_up_1k', 'p50_ms')),
        goal: { atMost: 1.5 },
    },
    { id: 'P7', shows: 'card among 100,000 sites at 500/s: p99', unit: 'ms', values: of('card_100k', 'p99_ms') },
    {
        id: 'P7',
        shows: 'card: p50 among 100,000 sites against 1,000',
        unit: '',
        values: ratio(of('card_100k', 'p50_ms'), of('card_1k', 'p50_ms')),
        goal: { atMost: 1.5 },
    },
    { id: 'P7', shows: 'search among 100,000 sites at 200/s: p99', unit: 'ms', values: of('search_100k', 'p99_ms'), goal: { atMost: 50 } },
    { id: 'P7', shows: 'the same, p50', unit: 'ms', values: of('search_100k', 'p50_ms') },
    { id: 'P7', shows: 'search among 1,000 sites at 200/s: p99', unit: 'ms', values: of('search_1k', 'p99_ms') },
    {
        id: 'P7',
        shows: 'search: p50 among 100,000 sites against 1,000',
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
        shows: 'publish: p50 among 100,000 sites against 1,000',
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
    { id: 'P10', shows: 'start of a worker until it takes jobs', unit: 'ms', values: of('starts', 'worker_ms'), goal: { atMost: 1500 } },
    { id: 'P10', shows: '`npm start` warm, until ready', unit: 'ms', values: of('starts', 'npm_start_ms'), goal: { atMost: 4000 } },
    { id: 'P11', shows: 'rate limit: one step in Redis, with leases', unit: 'µs', values: of('parts', 'limit_us'), goal: { atMost: 60 } },
    { id: 'P11', shows: 'key check, cached', unit: 'µs', values: of('parts', 'key_us'), goal: { atMost: 5 } },
    { id: 'P11', shows: 'guard on egress', unit: 'µs', values: of('parts', 'guard_us'), goal: { atMost: 50 } },
    { id: 'P11', shows: 'validation of body and params', unit: 'µs', values: of('parts', 'validation_us'), goal: { atMost: 100 } },
    {
        id: 'P12',
        shows: 'with 10,000 accounts, 1,000,000 ledger rows and 10,000,000 usage rows against an empty database: fetches/s at 64 in flight',
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
        shows: 'the same, p99 at 70 % of the greatest rate',
        unit: '',
        values: ratio(of('growth', 'grown_steady_p99_ms'), of('growth', 'empty_steady_p99_ms')),
        goal: { atMost: 1.1 },
    },
    {
        id: 'E7',
        shows: 'bombs of six kinds, 20 a second: memory of the worker, at its greatest',
        unit: 'MB',
        values: of('beside_bombs', 'worker_mb'),
        goal: { atMost: 256 },
    },
    { id: 'E7', shows: 'one bomb alone: memory that it adds', unit: 'MB', values: of('one_bomb', 'most_mb'), goal: { atMost: 32 } },
    {
        id: 'E7',
        shows: 'bombs of six kinds, 20 a second: the longest that one went on after its cap',
        unit: 'ms',
        values: of('beside_bombs', 'cut_after_ms'),
        goal: { atMost: 200 },
    },
    {
        id: 'E7',
        shows: 'the same: p99 of a good site at 60/s against nothing else',
        unit: '',
        values: againstIdle('beside_bombs'),
        goal: { atMost: 1.5 },
    },
    {
        id: 'I5',
        shows: '1,000 sockets with endless headers and 1,000 with endless bodies: the same',
        unit: '',
        values: againstIdle('beside_slow_sockets'),
        goal: { atMost: 1.5 },
    },
    {
        id: 'I5',
        shows: 'the same: until the last of them was cut, in seconds',
        unit: '',
        values: join(of('beside_slow_sockets', 'headers_s'), of('beside_slow_sockets', 'body_s'), Math.max),
        goal: { atMost: 15 },
    },
    {
        id: 'I12',
        shows: '100,000 mistyped keys a minute: p99 of a good site at 60/s against nothing else',
        unit: '',
        values: againstIdle('beside_mistyped_keys'),
        goal: { atMost: 1.5 },
    },
    {
        id: 'I12',
        shows: '100,000 well-formed keys a minute that nobody has: the same',
        unit: '',
        values: againstIdle('beside_unknown_keys'),
        goal: { atMost: 1.5 },
    },
    {
        id: 'L6',
        shows: 'an account that asks for 100 times its share of slow calls: p99 of a good site at 60/s against nothing else',
        unit: '',
        values: againstIdle('beside_greedy'),
        goal: { atMost: 1.5 },
    },
    {
        id: 'L7',
        shows: 'a site that hangs, 20 calls a second: the same',
        unit: '',
        values: againstIdle('beside_hanging'),
        goal: { atMost: 1.5 },
    },
    {
        id: 'L10',
        shows: '2,000 calls a second that browse: the same',
        unit: '',
        values: againstIdle('beside_browsing'),
        goal: { atMost: 1.5 },
    },
    {
        id: 'L8',
        shows: 'five times the greatest rate, offered for 60 s: fetches answered well against the greatest rate',
        unit: '',
        values: of('overload', 'good_share'),
        goal: { atLeast: 0.8 },
    },
    {
        id: 'L8',
        shows: 'the same, the others: p99 until the 503',
        unit: 'ms',
        values: of('overload', 'refused_p99_ms'),
        goal: { atMost: 50 },
    },
    {
        id: 'L8',
        shows: 'the same, answers other than 200 and 503 with Retry-After',
        unit: '',
        values: join(of('overload', 'without_retry_after'), of('overload', 'other_answers'), (mute, others) => mute + others),
        goal: { atMost: 0 },
    },
    {
        id: 'L9',
        shows: 'the same, calls of the site after the deadline of their caller',
        unit: '',
        values: of('overload', 'late_calls'),
        goal: { atMost: 0 },
    },
    {
        id: 'L9',
        shows: 'p99 at 60/s, 5 s after the overload against before',
        unit: '',
        values: ratio(of('overload', 'after_p99_ms'), of('overload', 'before_p99_ms')),
        goal: { atMost: 1.5 },
    },
    {
        id: 'S1',
        shows: "Debian's PostgreSQL 15 as it is shipped against the embedded one, 64 fetches in flight: throughput",
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
        shows: 'through PgBouncer, 64 fetches in flight: throughput against the embedded one',
        unit: '',
        values: ratio(of('stock', 'pooled_64_per_second'), of('stock', 'embedded_64_per_second')),
    },
    {
        id: 'S2',
        shows: "functions that JIT compiled on Debian's PostgreSQL for fetches one at a time",
        unit: '',
        values: of('stock_sql', 'compiled'),
        goal: { atMost: 0 },
    },
    {
        id: 'S2',
        shows: 'the slowest statement of a fetch on it, at the mean',
        unit: 'ms',
        values: of('stock_sql', 'slowest_mean_ms'),
        goal: { atMost: 1 },
    },
    { id: 'S2', shows: 'all statements of a fetch on it together', unit: 'ms', values: of('stock_sql', 'ms_per_fetch') },
    ...STRANGER_GOALS,
    {
        id: 'F1',
        shows: 'labelled tasks over the starter registry: the right endpoint is among the first five',
        unit: '',
        values: of('find_tasks', 'first_five'),
        goal: { atLeast: 0.95 },
    },
    { id: 'F1', shows: 'the same, it is the first', unit: '', values: of('find_tasks', 'first'), goal: { atLeast: 0.8 } },
    {
        id: 'F1',
        shows: 'tasks that the ranking was never tuned on: among the first five',
        unit: '',
        values: of('find_tasks', 'held_out_first_five'),
    },
    { id: 'F1', shows: 'the same, the first', unit: '', values: of('find_tasks', 'held_out_first') },
    {
        id: 'F1',
        shows: 'tasks that nothing serves: the list is empty',
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
    {
        id: 'F2',
        shows: 'publish of 100 endpoints beside a worker that indexes them, against publishing without an index: p50',
        unit: '',
        values: ratio(of('publish_indexed', 'p50_ms'), of('publish_unindexed', 'p50_ms')),
        goal: { atMost: 1.5 },
    },
    {
        id: 'J1',
        shows: 'CPU of an item of a batch over all processes, from its order to its end, against a live fetch at 64 in flight',
        unit: '',
        values: ratio(of('batch_items', 'cpu_us'), of('batch_live_64', 'cpu_us')),
        goal: { atMost: 0.6 },
    },
    {
        id: 'J1',
        shows: 'items of a batch a second, against live fetches at 64 in flight',
        unit: '',
        values: ratio(of('batch_items', 'per_second'), of('batch_live_64', 'per_second')),
        goal: { atLeast: 1.5 },
    },
    {
        id: 'J2',
        shows: 'a batch of 100,000 lines: time until it is accepted',
        unit: 'ms',
        values: of('batch_lines', 'accepted_ms'),
        goal: { atMost: 10_000 },
    },
    {
        id: 'J2',
        shows: 'the same: memory of the API beyond that before',
        unit: 'MB',
        values: of('batch_lines', 'api_more_mb'),
        goal: { atMost: 64 },
    },
    {
        id: 'J2',
        shows: 'results of a batch, read as lines',
        unit: '/s',
        values: of('batch_items', 'results_per_second'),
        goal: { atLeast: 20_000 },
    },
    {
        id: 'J3',
        shows: 'p99 of live fetches beside a batch of the same account that fills the worker, against alone',
        unit: '',
        values: againstIdle('batch_beside'),
        goal: { atMost: 1.5 },
    },
    {
        id: 'J3',
        shows: 'first job of another account behind it: time until it begins, the longest of five',
        unit: 'ms',
        values: of('batch_beside', 'first_ms'),
        goal: { atMost: 1000 },
    },
];

export type Verdict = 'goal met' | 'above floor' | 'BELOW FLOOR' | 'below goal' | 'for information' | 'not measured';

/** How a figure stands to its goal and floor. */
export function verdictOf({ goal, floor }: Pick<GoalRow, 'goal' | 'floor'>, value: number): Verdict {
    if (Number.isNaN(value)) return 'not measured';
    if (goal === undefined) return 'for information';
    if (holds(goal, value)) return 'goal met';
    if (floor === undefined) return 'below goal';
    return holds(floor, value) ? 'above floor' : 'BELOW FLOOR';
}

function holds(bound: Bound, value: number): boolean {
    return 'atLeast' in bound ? value >= bound.atLeast : value <= bound.atMost;
}
