import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { verdictOf } from '../bench/goals/row.ts';
import { GOALS } from '../bench/goals.ts';
import { formatRows, longRunCells, readLongRuns, rowsOf } from '../bench/long-runs.ts';
import { render } from '../bench/render.ts';
import { type BenchResults, type Figures, median, type RoundRun, withRounds } from '../bench/results.ts';
import { ROUNDS } from '../bench/scenarios/all.ts';
import { BESIDE_STRANGERS } from '../bench/scenarios/strangers.ts';
import { readSoak } from '../bench/soak/results.ts';
import { growthVerdict, trendOf } from '../bench/soak/trend.ts';
import { STRANGER_GOALS, strangerCells, strangerScenario } from '../bench/strangers.ts';
import { STRANGERS } from './hostile/strangers.ts';

const read = (name: string) => readFileSync(new URL(`../bench/${name}`, import.meta.url), 'utf8');
const results = JSON.parse(read('results.json')) as BenchResults;

describe('the published results of the bench', () => {
    it('have the values of the raw repetitions', () => {
        expect(read('RESULTS.md')).to.equal(render(results, readLongRuns(), readSoak()));
    });

    it('come from full rounds that name their commit, their day and their machine', () => {
        expect(results.mode).to.equal('full');
        const measured = ROUNDS.filter(({ scenarios }) => scenarios.some(({ name }) => results.scenarios[name] !== undefined));
        expect(Object.keys(results.rounds)).to.have.members([...new Set(measured.map(({ name }) => name))]);
        for (const { commit, date, machine } of Object.values(results.rounds)) {
            expect(commit).to.match(/^[0-9a-f]{12}/);
            expect(new Date(date).toISOString()).to.equal(date);
            expect(machine.cores).to.be.above(0);
        }
    });

    for (const { id, shows, values } of GOALS) {
        it(`measure ${id} at least three times: ${shows}`, () => {
            const measured = values(results);
            expect(measured).to.have.length.of.at.least(3);
            for (const value of measured) expect(value).to.satisfy(Number.isFinite);
        });
    }
});

describe('the results during attacks', () => {
    const scenario = (figures: Figures[]) => figures.map((one) => ({ alone_p99_ms: 10, failed: 0, turns: 1000, ...one }));
    const made: BenchResults = {
        mode: 'full',
        rounds: {},
        scenarios: {
            fetch_1: [{ p99_ms: 1000, turns: 1, turns_over_25_ms: 1, turn_most_ms: 500 }],
            [strangerScenario('Sends much, often')]: scenario([
                { p99_ms: 11, turns_over_25_ms: 0, turn_most_ms: 20, worker_added_mb: 3 },
                { p99_ms: 30, turns_over_25_ms: 1, turn_most_ms: 30, worker_added_mb: 2 },
                { p99_ms: 12, turns_over_25_ms: 0, turn_most_ms: 20, worker_added_mb: 1 },
            ]),
            [strangerScenario('sends nothing')]: scenario([
                { p99_ms: 16, turns_over_25_ms: 4, turn_most_ms: 90, worker_added_mb: 0 },
                { p99_ms: 10, turns_over_25_ms: 0, turn_most_ms: 10, worker_added_mb: 0 },
                { p99_ms: 17, turns_over_25_ms: 0, turn_most_ms: 10, worker_added_mb: 9, failed: 2 },
            ]),
        },
    };
    const values = (shows: string) => STRANGER_GOALS.find((row) => row.shows.includes(shows))?.values(made);

    it('sum the turns of all rows, and take the worst row for other values', () => {
        expect(values('kinds of strangers')).to.deep.equal([2, 2, 2]);
        expect(values('above 25 ms')).to.deep.equal([2, 0.5, 0]);
        expect(values('longest')).to.deep.equal([90, 30, 20]);
        expect(values('memory')).to.deep.equal([3, 2, 9]);
        expect(values('failed calls')).to.deep.equal([0, 0, 2]);
    });

    it('compare the p99 of a normal site for the row with the worst median, and not for one odd repetition', () => {
        expect(values('with the worst')).to.deep.equal([1.6, 1, 1.7]);
    });

    it('show each row, the worst first', () => {
        expect(strangerCells(made, String).map(([title, ratio]) => [title, ratio])).to.deep.equal([
            ['sends nothing', '1.6'],
            ['sends much often', '1.2'],
        ]);
    });

    it('have each row of the round once, and more than twenty rows', () => {
        const names = STRANGERS.map(({ name }) => strangerScenario(name));
        expect(new Set(names).size).to.equal(names.length);
        expect(BESIDE_STRANGERS.scenarios.length).to.be.above(20);
    });
});

describe('rounds that are measured again', () => {
    it('keep the results of other scenarios, and drop scenarios that no longer exist', () => {
        const run = (commit: string): RoundRun => ({
            commit,
            date: '2026-01-02T03:04:05.000Z',
            machine: { cores: 2, cpu: 'one', memory_gb: 4, node: 'v26.0.0', os: 'Linux' },
        });
        const before: BenchResults = {
            mode: 'full',
            rounds: { fetches: run('a'), registry: run('a') },
            scenarios: { fetch_1: [{ p50_ms: 1 }], card_1k: [{ p50_ms: 1 }], forgotten: [{ p50_ms: 1 }] },
        };
        const fresh: BenchResults = { mode: 'full', rounds: { registry: run('b') }, scenarios: { card_1k: [{ p50_ms: 2 }] } };
        expect(withRounds(before, fresh, new Set(['fetch_1', 'card_1k']))).to.deep.equal({
            mode: 'full',
            rounds: { fetches: run('a'), registry: run('b') },
            scenarios: { fetch_1: [{ p50_ms: 1 }], card_1k: [{ p50_ms: 2 }] },
        });
    });
});

describe('a verdict of the bench', () => {
    const atLeast = { goal: { atLeast: 0.38 }, floor: { atLeast: 0.28 } };
    const atMost = { goal: { atMost: 850 }, floor: { atMost: 1200 } };

    it('distinguishes a goal from a floor, in both directions', () => {
        expect(verdictOf(atLeast, 0.38)).to.equal('goal met');
        expect(verdictOf(atLeast, 0.3)).to.equal('above floor');
        expect(verdictOf(atLeast, 0.27)).to.equal('BELOW FLOOR');
        expect(verdictOf(atMost, 850)).to.equal('goal met');
        expect(verdictOf(atMost, 1100)).to.equal('above floor');
        expect(verdictOf(atMost, 1201)).to.equal('BELOW FLOOR');
    });

    it('names values without a floor, a goal or a measurement', () => {
        expect(verdictOf({ goal: { atMost: 40 } }, 41)).to.equal('below goal');
        expect(verdictOf({}, 41)).to.equal('for information');
        expect(verdictOf(atMost, median([]))).to.equal('not measured');
    });
});

describe('a trend of the soak', () => {
    const hours = Array.from({ length: 100 }, (_, index) => index / 100);
    /** Deterministic noise between -1 and 1. */
    const noise = (index: number) => Math.sin(index * index);

    it('is found despite a warm-up, noise and a few odd values', () => {
        const values = hours.map((hour, index) => (index < 20 ? 10 : 100 + hour * 2 + noise(index) * 0.2 + (index % 17 === 0 ? 50 : 0)));
        const trend = trendOf({ hours, values });
        expect(trend.growth).to.be.within(0.4, 0.56);
        expect(trend.low).to.be.below(trend.growth);
        expect(growthVerdict(trend)).to.equal('GROWS');
    });

    it('is not reported for a constant value with noise, nor if chance explains it', () => {
        expect(trendOf({ hours, values: hours.map(() => 30) })).to.include({ growth: 0, low: 0, high: 0 });
        const noisy = trendOf({ hours, values: hours.map((_, index) => 100 + noise(index) * 20) });
        expect(noisy.low).to.be.below(0);
        expect(growthVerdict(noisy)).to.not.equal('GROWS');
        expect(growthVerdict({ median: 1, growth: 0.09, low: 0.08, high: 0.1 })).to.equal('holds');
    });
});

describe('the long runs', () => {
    const run = (title: string, holds = true) => ({
        file: 'test/long/a.spec.ts',
        title,
        holds,
        ms: 1500,
        commit: '0123',
        date: '2026-01-02T03:04:05Z',
    });

    it('have the rows that their titles end with', () => {
        expect(rowsOf('survives 100 deaths (R1, R2)')).to.deep.equal(['R1', 'R2']);
        expect(rowsOf('reads a file (of 500 MB)')).to.deep.equal([]);
    });

    it('list each row once, in order, and pass only if all of its tests pass', () => {
        expect(formatRows([run('a (E4)'), run('b (R10)'), run('c (R2, R10)', false), run('alone')])).to.deep.equal([
            'DOES NOT HOLD  R2 (2 s)',
            'DOES NOT HOLD  R10 (3 s)',
            'holds  E4 (2 s)',
            'holds  alone (2 s)',
            '2 of 4 hold',
        ]);
    });

    it('are in the published results with commit and time', () => {
        expect(longRunCells([run('lasts (50 times) (R10)', false)])).to.deep.equal([
            ['R10', 'lasts (50 times)', 'DOES NOT HOLD', '1.5', '0123', '2026-01-02 03:04'],
        ]);
    });
});
