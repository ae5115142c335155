import type { Slot } from '../../../shared/store/usage/usage-report.ts';

/** A chart for the view. Its coordinates are in a box of fixed size, which the page scales. */
interface Chart {
    title: string;
    /** Text alternative for screen readers. */
    words: string;
    /** The maximum of the scale, as text. */
    top: string;
    bars: Bar[];
    lines: Line[];
    /** The values of each slot as text, shown at the pointer. */
    values: string[];
    /** Empty if the chart has only one colour. */
    legend: { tone: Tone; label: string }[];
}

interface Bar {
    x: number;
    y: number;
    width: number;
    height: number;
    tone: Tone;
}

interface Line {
    tone: Tone;
    /** The `d` attributes of the lines. Each gap starts a new line. */
    paths: string[];
    /** Single values between two gaps, which need a dot since a line would be invisible. */
    dots: { x: number; y: number }[];
}

type Tone = 'main' | 'bad' | 'second';

export const BOX = { width: 1000, height: 200 } as const;
const GAP = 0.22;

const EMPTY = { bars: [], lines: [], legend: [] };

/** The four charts of the page: calls, success rate, credits, latency. */
export function chartsOf(slots: readonly Slot[], say: { number(value: number): string }): Chart[] {
    const calls = scaleOf(slots.map((slot) => slot.calls));
    const credits = scaleOf(slots.map((slot) => slot.credits));
    const latency = scaleOf(slots.map(({ p95Ms }) => p95Ms ?? 0));
    const charts: Chart[] = [
        {
            ...EMPTY,
            title: 'Calls',
            words: `Calls over time, at most ${say.number(Math.max(...slots.map((slot) => slot.calls)))} in one bar.`,
            top: say.number(calls),
            bars: slots.flatMap((slot, index) => [
                bar(index, slots.length, 0, slot.successes / calls, 'main'),
                bar(index, slots.length, slot.successes / calls, (slot.calls - slot.successes) / calls, 'bad'),
            ]),
            values: slots.map((slot) => `${say.number(slot.calls)} calls, ${say.number(slot.calls - slot.successes)} failed or refused`),
            legend: [
                { tone: 'main', label: 'succeeded' },
                { tone: 'bad', label: 'failed or refused' },
            ],
        },
        {
            ...EMPTY,
            title: 'Success rate',
            words: 'Share of calls that succeeded, over time.',
            top: '100 %',
            lines: [line('main', slots, ({ calls, successes }) => (calls === 0 ? null : successes / calls))],
            values: slots.map((slot) => (slot.calls === 0 ? 'no calls' : `${Math.floor((slot.successes / slot.calls) * 1000) / 10} %`)),
        },
        {
            ...EMPTY,
            title: 'Credits',
            words: `Credits over time, at most ${say.number(Math.max(...slots.map((slot) => slot.credits)))} in one bar.`,
            top: say.number(credits),
            bars: slots.map((slot, index) => bar(index, slots.length, 0, slot.credits / credits, 'main')),
            values: slots.map((slot) => `${say.number(slot.credits)} credits`),
        },
        {
            ...EMPTY,
            title: 'Latency of successful calls',
            words: 'Time that successful calls took: the median, and what 95 of 100 calls stay under.',
            top: `${say.number(latency)} ms`,
            lines: [
                line('second', slots, ({ p95Ms }) => (p95Ms === null ? null : p95Ms / latency)),
                line('main', slots, ({ p50Ms }) => (p50Ms === null ? null : p50Ms / latency)),
            ],
            values: slots.map(({ p50Ms, p95Ms }) =>
                p50Ms === null || p95Ms === null ? 'no calls' : `p50 ${say.number(p50Ms)} ms, p95 ${say.number(p95Ms)} ms`,
            ),
            legend: [
                { tone: 'main', label: 'p50' },
                { tone: 'second', label: 'p95' },
            ],
        },
    ];
    return charts.map((chart) => ({ ...chart, bars: chart.bars.filter(({ height }) => height > 0) }));
}

/** The maximum of the scale: 1, 2 or 5 times a power of ten. */
function scaleOf(values: readonly number[]): number {
    const max = Math.max(1, ...values);
    const power = 10 ** Math.floor(Math.log10(max));
    return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= max) ?? max;
}

/** @param from the bottom of the bar, and `share` its height, both as a share of the chart's height */
function bar(index: number, of: number, from: number, share: number, tone: Tone): Bar {
    const width = BOX.width / of;
    return {
        x: round(index * width + (width * GAP) / 2),
        y: round(BOX.height * (1 - from - share)),
        width: round(width * (1 - GAP)),
        height: round(BOX.height * share),
        tone,
    };
}

/** @param share the height of a slot's point as a share of the chart's height; null: a gap */
function line(tone: Tone, slots: readonly Slot[], share: (slot: Slot) => number | null): Line {
    const width = BOX.width / slots.length;
    const paths: string[] = [];
    const dots: Line['dots'] = [];
    let stretch: { x: number; y: number }[] = [];
    const end = () => {
        const [only] = stretch;
        if (stretch.length === 1 && only !== undefined) dots.push(only);
        if (stretch.length > 1) paths.push(`M${stretch.map(({ x, y }) => `${x} ${y}`).join('L')}`);
        stretch = [];
    };
    for (const [index, slot] of slots.entries()) {
        const value = share(slot);
        if (value === null) end();
        else stretch.push({ x: round((index + 0.5) * width), y: round(BOX.height * (1 - value)) });
    }
    end();
    return { tone, paths, dots };
}

function round(value: number): number {
    return Math.round(value * 100) / 100;
}
