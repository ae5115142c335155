import { median } from '../results.ts';

/** A figure that was measured repeatedly. */
export interface Watch {
    /** Hours since the first look. */
    hours: readonly number[];
    values: readonly number[];
}

/** The growth of a figure in 24 hours, as a fraction of its median, and the bounds of its 95 % confidence interval. */
interface Trend {
    median: number;
    growth: number;
    low: number;
    high: number;
}

/** Fraction of the values at the start that are ignored, since processes are still warming up. */
const WARM_UP = 0.2;
const DAY_HOURS = 24;
/** 95 % of a normal distribution lie within this many standard deviations of its mean. */
const CERTAIN_95 = 1.96;

/**
 * The median of the slopes between all pairs (Theil and Sen), extrapolated to 24 hours. A few outliers do not change it much. Its bounds
 * are the slopes as many ranks away as Kendall's statistic may vary by chance.
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

const MAX_GROWTH = 0.1;

/** The verdict on a growth. A growth that chance can explain is not proven. */
export function growthVerdict({ growth, low }: Trend): 'holds' | 'too noisy to tell' | 'GROWS' {
    if (growth < MAX_GROWTH) return 'holds';
    return low > 0 ? 'GROWS' : 'too noisy to tell';
}
