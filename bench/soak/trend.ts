import { median } from '../results.ts';

/** A figure that was looked at again and again. */
export interface Watch {
    /** Hours since the first look. */
    hours: readonly number[];
    values: readonly number[];
}

/** How a figure grows: parts of its median in 24 hours, and between what it lies with 95 % certainty. */
export interface Trend {
    median: number;
    growth: number;
    low: number;
    high: number;
}

/** The first of what was seen are those of processes that are still getting warm. */
const WARM_UP = 0.2;
const DAY_HOURS = 24;
/** Of a normal distribution. */
const CERTAIN_95 = 1.96;

/**
 * The median of the slopes between all pairs (Theil and Sen), which a few odd values do not bend, extrapolated to 24 hours; its bounds
 * are slopes as many ranks away as Kendall's statistic may be by chance.
 */
export function trendOf({ hours, values }: Watch): Trend {
    const from = Math.floor(values.length * WARM_UP);
    const [times, seen] = [hours.slice(from), values.slice(from)];
    const slopes = pairSlopes(times, seen).toSorted((one, other) => one - other);
    const count = seen.length;
    const spread = CERTAIN_95 * Math.sqrt((count * (count - 1) * (2 * count + 5)) / 18);
    const rank = (place: number) => slopes[Math.max(0, Math.min(slopes.length - 1, Math.round(place)))] ?? Number.NaN;
    const middle = median(seen);
    const inADay = (slope: number) => (slope === 0 ? 0 : (slope * DAY_HOURS) / middle);
    return {
        median: middle,
        growth: inADay(median(slopes)),
        low: inADay(rank((slopes.length - spread) / 2)),
        high: inADay(rank((slopes.length + spread) / 2)),
    };
}

function pairSlopes(times: readonly number[], values: readonly number[]): number[] {
    return values.flatMap((value, place) =>
        values.slice(place + 1).map((later, distance) => {
            const hours = (times[place + 1 + distance] ?? Number.NaN) - (times[place] ?? Number.NaN);
            return (later - value) / hours;
        }),
    );
}

const MOST_GROWTH = 0.1;

/** A growth that chance alone explains is none that was shown. */
export function growthVerdict({ growth, low }: Trend): 'holds' | 'too noisy to tell' | 'GROWS' {
    if (growth < MOST_GROWTH) return 'holds';
    return low > 0 ? 'GROWS' : 'too noisy to tell';
}
