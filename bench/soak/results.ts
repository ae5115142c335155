import { existsSync, readFileSync } from 'node:fs';
import { growthVerdict, trendOf, type Watch } from './trend.ts';

/** The results of a long run under steady load; stored as `bench/soak.json`. */
export interface SoakResults {
    commit: string;
    /** ISO 8601. */
    date: string;
    minutes: number;
    /** The highest rate at the beginning, and the rate that was offered afterwards. */
    greatestPerSecond: number;
    perSecond: number;
    calls: number;
    failed: number;
    /** Every figure that was watched. */
    watched: Record<string, Watch & { what: string; unit: string }>;
}

const FILE = new URL('../soak.json', import.meta.url);

/** Reads the stored results; undefined if there are none. */
export function readSoak(): SoakResults | undefined {
    return existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as SoakResults) : undefined;
}

/** The rows of the table in `bench/RESULTS.md`. */
export function soakCells({ watched }: SoakResults): string[][] {
    return Object.values(watched).map(({ what, unit, ...watch }) => {
        const trend = trendOf(watch);
        const percent = (part: number) => `${(100 * part).toFixed(1)} %`;
        return [
            what,
            `${trend.median.toFixed(trend.median < 100 ? 1 : 0)} ${unit}`.trimEnd(),
            percent(trend.growth),
            `${percent(trend.low)} – ${percent(trend.high)}`,
            growthVerdict(trend),
        ];
    });
}

/** The text above the table. */
export function soakText({ minutes, perSecond, greatestPerSecond, calls, failed, commit, date }: SoakResults): string {
    return `Made by \`npm run soak\`: ${minutes} minutes on the production topology at ${Math.round(perSecond)} fetches a second, 60 % of the initial
maximum of ${Math.round(greatestPerSecond)}. ${calls.toLocaleString('en-US')} calls, of which ${failed} failed (commit ${commit}, ${date.slice(0, 16).replace('T', ' ')} UTC).
Every half minute the load pauses, garbage is collected and each figure is read. Growth is the median slope after the first fifth,
extrapolated to 24 hours, with its 95 % bounds; the goal is below 10 %. Request log, ledger and holds keep rows for each call by design: for
them the bytes per row are measured, for all other tables the size.`;
}
