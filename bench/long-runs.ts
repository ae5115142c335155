import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { commitNow } from './commit.ts';

/**
 * The latest result of a test of `npm run test:long`, of a test of `npm run test:real` that shows a row of the goals, or of a suite that
 * names rows of the goals in its title.
 */
interface LongRun {
    /** Path from the root of the project. */
    file: string;
    /** Ends with the rows of the goals that it shows, in brackets: `…, 50 times (R10)`. */
    title: string;
    holds: boolean;
    ms: number;
}

/** A result with its commit and date. `bench/long-runs.json` is a list of them. A spec that runs again replaces only its own entries. */
export interface DatedRun extends LongRun {
    commit: string;
    /** ISO 8601. */
    date: string;
}

/** The rows of the goals that a test shows; none if it belongs to none. */
export function rowsOf(title: string): string[] {
    const [, ids = ''] = /\(([A-Z]\d+(?:, [A-Z]\d+)*)\)$/.exec(title) ?? [];
    return ids === '' ? [] : ids.split(', ');
}

/**
 * The printed lines: one for each row of the goals, which holds if all of its tests hold; one for each test without a row; then how many of
 * them hold.
 */
export function formatRows(runs: readonly LongRun[]): string[] {
    const shown = runs.flatMap((run) => {
        const rows = rowsOf(run.title);
        return (rows.length === 0 ? [run.title] : rows).map((row) => ({ ...run, row }));
    });
    const byRow = [...Map.groupBy(shown, ({ row }) => row)].toSorted(([one], [other]) => inOrder(one, other));
    const holding = byRow.filter(([, tests]) => tests.every(({ holds }) => holds));
    const lines = byRow.map(([row, tests]) => {
        const seconds = Math.round(tests.reduce((sum, { ms }) => sum + ms, 0) / 1000);
        return `${tests.every(({ holds }) => holds) ? 'holds' : 'DOES NOT HOLD'}  ${row} (${seconds} s)`;
    });
    return [...lines, `${holding.length} of ${byRow.length} hold`];
}

/** The rows of the table in `bench/RESULTS.md`. */
export function longRunCells(runs: readonly DatedRun[]): string[][] {
    return runs
        .toSorted((one, other) => inOrder(rowsOf(one.title)[0] ?? one.title, rowsOf(other.title)[0] ?? other.title))
        .map(({ title, holds, ms, commit, date }) => [
            rowsOf(title).join(', '),
            title.replace(/ \([^()]*\)$/, '').replaceAll('|', '\\|'),
            holds ? 'holds' : 'DOES NOT HOLD',
            (ms / 1000).toFixed(ms < 10_000 ? 1 : 0),
            commit,
            date.slice(0, 16).replace('T', ' '),
        ]);
}

/** Reads the stored results; empty if there are none. */
export function readLongRuns(): DatedRun[] {
    return existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as DatedRun[]) : [];
}

/**
 * Stores these results, which replace earlier ones of the same specs. Removes results of specs that no longer exist. Returns all results.
 */
export function keepLongRuns(runs: readonly LongRun[]): DatedRun[] {
    const ran = new Set(runs.map(({ file }) => file));
    const others = readLongRuns().filter(({ file }) => !ran.has(file) && existsSync(new URL(`../${file}`, import.meta.url)));
    const now = { commit: commitNow(), date: new Date().toISOString() };
    const kept = [...others, ...runs.map((run) => ({ ...run, ...now }))].toSorted((one, other) => inOrder(one.file, other.file));
    writeFileSync(FILE, `${JSON.stringify(kept, null, 4)}\n`);
    return kept;
}

const FILE = new URL('long-runs.json', import.meta.url);
/** The parts of the goals, in their order. */
const PARTS = 'PREILSXJWFACM';

/** Compares two rows: R2 comes before R10, and both before E1. */
function inOrder(one: string, other: string): number {
    const key = (name: string) => {
        const [, part = '', number = ''] = /^([A-Z])(\d+)$/.exec(name) ?? [];
        return part === '' ? `~${name}` : `${String.fromCharCode(65 + PARTS.indexOf(part))}${number.padStart(3, '0')}`;
    };
    return key(one) < key(other) ? -1 : 1;
}
