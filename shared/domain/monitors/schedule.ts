import { createHash } from 'node:crypto';
import { Cron } from 'croner';
import { timezoneOf } from '../site/site-policy.ts';
import { DAY, EVERY, FAILING } from './bounds.ts';

/** When a monitor runs: at an interval of `every` seconds, or at the times of a cron expression. */
export type Schedule = { every: number } | { cron: string; timezone: string };

/** An error in a schedule, with its JSON pointer into the request. */
interface ScheduleFault {
    path: '/cron' | '/timezone';
    message: string;
}

const DAY_MS = DAY * 1000;
const SECONDS: Readonly<Record<string, number>> = { m: 60, h: 3600, d: DAY };

/** Parses an interval such as `15m`, `1h` or `30d` to seconds; undefined if it is invalid or outside 5 minutes to 30 days. */
export function readEvery(text: string): number | undefined {
    const [, count = '', unit = ''] = /^([1-9]\d{0,4})([mhd])$/.exec(text) ?? [];
    const seconds = Number(count) * (SECONDS[unit] ?? 0);
    return seconds >= EVERY.min && seconds <= EVERY.max ? seconds : undefined;
}

const FIELDS = ['minute', 'hour', 'day of the month', 'month', 'day of the week'];
/** Minutes and hours accept no cron extensions, so that they have the same meaning on every day. */
const TIME = /^[\d*,/-]+$/;
const DATE = /^[\dA-Za-z*,/#-]+$/;

/** The error in a cron expression or its timezone; undefined if it is valid and has a run after `from`. */
export function cronFault(cron: string, timezone: string, from: Date): ScheduleFault | undefined {
    if (timezoneOf(timezone) === undefined) return { path: '/timezone', message: 'This is not an IANA timezone, such as Europe/Berlin.' };
    const fields = cron.trim().split(/\s+/);
    if (fields.length !== FIELDS.length)
        return { path: '/cron', message: `A cron expression must have five fields: ${FIELDS.join(', ')}.` };
    for (const [place, name] of FIELDS.entries()) {
        const wrong = faultOfField(fields, place);
        if (wrong !== undefined) return { path: '/cron', message: `Field ${place + 1} (${name}) is invalid: ${wrong}.` };
    }
    return nextTime(cron, timezone, from) === undefined ? { path: '/cron', message: 'This expression matches no date.' } : undefined;
}

/** Validates one field, with stars instead of the other fields. */
function faultOfField(fields: readonly string[], place: number): string | undefined {
    const field = fields[place] ?? '';
    if (!(place < 2 ? TIME : DATE).test(field)) return `${field.slice(0, 40)} has characters that this field does not allow`;
    try {
        timesOf(FIELDS.map((_, at) => (at === place ? field : '*')).join(' '));
        return undefined;
    } catch {
        return `${field.slice(0, 40)} is not a valid value, list, range or step`;
    }
}

/** The times of an expression in UTC. */
function timesOf(cron: string): Cron {
    return new Cron(cron.trim(), { timezone: 'UTC', mode: '5-part', paused: true });
}

/** The times of an expression in these years alone. */
function timesIn(cron: string, timezone: string, first: number, last: number): Cron {
    return new Cron(`0 ${cron.trim()} ${first}-${last}`, { timezone, mode: '7-part', paused: true });
}

/** Two pairs of years are searched. No date with a clock change is the only one in both years of a pair, unless it is in each year. */
const PAIRS_OF_YEARS = 2;

/**
 * The first run after `from`; undefined if there is none. Croner alone searches until the year 3000, which takes seconds if all runs are in
 * an hour that a clock change skips: `* 2 * 3 0L` in Europe. So the dates are found first, without a timezone.
 */
function nextTime(cron: string, timezone: string, from: Date): Date | undefined {
    const dates = datesOf(cron, from);
    let date = dates.nextRun(new Date(from.getTime() - DAY_MS));
    for (let pair = 0; pair < PAIRS_OF_YEARS && date !== null; pair++) {
        const year = date.getUTCFullYear();
        const next = timesIn(cron, timezone, year, year + 1).nextRun(from);
        if (next !== null) return next;
        date = dates.nextRun(new Date(Date.UTC(year + 2) - 1));
    }
    return undefined;
}

/** The longest time between two years of one date: from a 29 February that is a Monday to the next, if a century without one is between. */
const YEARS = 40;

/** The dates of an expression, as midnights in UTC, until every date has come once: for one that never comes croner searches for 1,000 years. */
function datesOf(cron: string, from: Date): Cron {
    const year = from.getUTCFullYear();
    return timesIn(`0 0 ${cron.trim().split(/\s+/).slice(2).join(' ')}`, 'UTC', year - 1, year + YEARS + 1);
}

/** A clock change can shorten the interval between runs within this time before and after it. */
const AROUND_CHANGE_MS = 3 * 3600 * 1000;

/** The shortest interval of two runs within a year, in seconds, at most a day; or any interval that is shorter than `enough`. */
export function closestRuns(schedule: Schedule, enough: number, from: Date): number {
    if ('every' in schedule) return schedule.every;
    const { cron, timezone } = schedule;
    const [minute = '', hour = ''] = cron.trim().split(/\s+/);
    const midnight = Math.floor(from.getTime() / DAY_MS) * DAY_MS;
    const listFrom = (field: string) => listRuns(timesOf(field), new Date(midnight - 1), midnight + DAY_MS - 1, enough);
    // Croner takes 20 ms for the 288 runs of a day with a run each five minutes, so it lists minutes and hours apart.
    const minutes = listFrom(`${minute} 0 * * *`);
    const ofDay = listFrom(`0 ${hour} * * *`).flatMap((at) => minutes.map((of) => at + of - midnight));
    let closest = Math.min(DAY, gapOf(ofDay));
    if (closest < enough) return closest;
    const overnight = DAY - ((ofDay.at(-1) ?? 0) - (ofDay[0] ?? 0)) / 1000;
    if (overnight < closest && hasNeighbours(datesOf(cron, from), from)) closest = overnight;
    for (const change of clockChanges(timezone, from)) {
        const [start, end] = [new Date(change - AROUND_CHANGE_MS), new Date(change + AROUND_CHANGE_MS)];
        const near = listRuns(timesIn(cron, timezone, start.getUTCFullYear(), end.getUTCFullYear()), start, end.getTime(), enough);
        closest = Math.min(closest, gapOf(near));
    }
    return closest;
}

/** Runs after `from` until `until`, in milliseconds. Stops once two runs are closer than `enough` seconds. */
function listRuns(times: Cron, from: Date, until: number, enough: number): number[] {
    const runs: number[] = [];
    for (let at = times.nextRun(from); at !== null && at.getTime() <= until; at = times.nextRun(at)) {
        const before = runs.at(-1);
        runs.push(at.getTime());
        if (before !== undefined && at.getTime() - before < enough * 1000) break;
    }
    return runs;
}

/** Seconds between the closest two of the sorted times. */
function gapOf(times: readonly number[]): number {
    let closest = Number.POSITIVE_INFINITY;
    for (let at = 1; at < times.length; at++) closest = Math.min(closest, ((times[at] ?? 0) - (times[at - 1] ?? 0)) / 1000);
    return closest;
}

/** Whether two runs of the coming year are on consecutive days. */
function hasNeighbours(days: Cron, from: Date): boolean {
    const until = from.getTime() + 366 * DAY_MS;
    let before = days.nextRun(from);
    while (before !== null && before.getTime() <= until) {
        const next: Date | null = days.nextRun(before);
        if (next !== null && next.getTime() - before.getTime() <= DAY_MS) return true;
        before = next;
    }
    return false;
}

/** Clock changes of the timezone in the coming year, to the minute. */
function clockChanges(timezone: string, from: Date): number[] {
    const format = new Intl.DateTimeFormat('en', { timeZone: timezone, timeZoneName: 'longOffset', year: 'numeric' });
    const offsetAt = (at: number) => format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value;
    const changes: number[] = [];
    for (let day = 0; day < 366; day++) {
        let [before, after] = [from.getTime() + day * DAY_MS, from.getTime() + (day + 1) * DAY_MS];
        const offset = offsetAt(before);
        if (offsetAt(after) === offset) continue;
        while (after - before > 60_000) {
            const middle = Math.floor((before + after) / 2);
            if (offsetAt(middle) === offset) before = middle;
            else after = middle;
        }
        changes.push(after);
    }
    return changes;
}

/** Maximum delay of a run in seconds, so that not all runs start on the hour. A tenth of the shortest interval. */
const MAX_JITTER = EVERY.min / 10;

/** The delay of a monitor's runs, in milliseconds. Constant for each monitor. */
export function jitterOf(monitorId: string): number {
    const part = createHash('sha256').update(monitorId).digest().readUInt32LE(0);
    return Math.floor((part / 2 ** 32) * MAX_JITTER * 1000);
}

/** Input for computing a monitor's next run. Times are milliseconds since the epoch. */
export interface Rhythm {
    monitorId: string;
    schedule: Schedule;
    /** The start of the `every` intervals. */
    since: number;
    failures: number;
    /** The shortest interval of the plan, in seconds. */
    shortest: number;
}

/** The next run after `now`, not sooner than plan and failures allow. Missed runs are not caught up. @param last when one was due */
export function nextRun(rhythm: Rhythm, now: number, last?: number): number {
    const regular = regularRun(rhythm, now);
    if (last === undefined) return regular;
    const first = regularRun(rhythm, last);
    const interval = Math.max((first - last) / 1000, rhythm.shortest);
    const wanted = last + slowDown(interval, rhythm.failures) * 1000;
    return regular >= wanted ? regular : regularRun(rhythm, wanted - 1);
}

/** Doubles the interval for each failure from the tenth on, up to a day. */
function slowDown(interval: number, failures: number): number {
    if (failures < FAILING || interval >= DAY) return interval;
    return Math.min(DAY, interval * 2 ** (failures - FAILING + 1));
}

/** The first scheduled time after `after`. */
function regularRun({ monitorId, schedule, since }: Rhythm, after: number): number {
    const late = jitterOf(monitorId);
    if ('every' in schedule) {
        const every = schedule.every * 1000;
        const start = since + late;
        return start + Math.max(1, Math.floor((after - start) / every) + 1) * every;
    }
    const from = new Date(Math.max(0, after - late));
    // Croner returns full seconds; without rounding it would find the same time again.
    const next = nextTime(schedule.cron, schedule.timezone, from);
    return (next?.getTime() ?? after + EVERY.max * 1000) + late;
}
