import { LONGEST_MS } from './in-hand.ts';

/** Below this nobody waits: whatever rate is seen then is that of the callers, not of the workers. Milliseconds, as all that follow. */
const NO_WAIT_MS = 100;
/** A line that comes back so soon is the same one. */
const CALM_MS = 2000;
/** Jobs taken are counted over so long, and not told apart below the other one. */
const COUNTED_MS = 1000;
const APART_MS = 20;
/** What a rate is made of at least; of fewer only where they were counted for the whole time. */
const LEAST_SPAN_MS = 100;
const LEAST_TAKEN = 16;
/** How long jobs run is a mean of about so many. */
const RUNS = 32;
/**
 * Who was taken is told of when the job is done: so many usual runs without a word, others were taken as before. From then on nobody is:
 * else jobs that run out of time before they are told of would be taken for ones of slow sites, and everybody would be let in behind them.
 */
const UNTOLD_RUNS = 2;
/** How long a newcomer may be expected to wait, while jobs have had to wait for a short time only: bursts pass. */
const BURST_WAIT_MS = 3000;
const BURST_MS = 1000;
/** The same from then on: a line that stays long serves nobody sooner. */
const LASTING_WAIT_MS = 1000;

/** What awaits a job that would be added now. */
export interface Outlook {
    /** How long it would wait for a worker; 0 where nobody waits, or it is not known yet. */
    waitMs: number;
    /** For how long jobs have had to wait; 0 where nobody waits. */
    lastsMs: number;
}

/**
 * The jobs of one process on their way to the workers. They are taken in the order in which they came: when number k is known to have
 * been taken at a time, and so many are taken a second, it follows when the next one will be. A rate is made only of jobs that had
 * to wait: as long as workers are free, slow sites make no line, however many calls of theirs are running. Times are of one clock.
 */
export interface WaitingLine {
    /** The number of a job that is added at a time. */
    join(now: number): number;
    /** A worker tells at `toldAt` that it took a job and ran it for so long; `since`: when its call came. */
    taken(number: number, since: number, ran: { toldAt: number; forMs: number }): void;
    /** @param others calls that come before the newcomer and have no number yet; @param open jobs with a number that are not over */
    outlook(now: number, before: { others: number; open: number }): Outlook;
}

interface Taken {
    number: number;
    at: number;
}

/** Of fewer calls that are with workers no line is read: one slow site among them would look like workers that stand still. */
export const LEAST_IN_LINE = 16;

/** Whether a newcomer is better told to come back. @param share of the longest wait that it is let in for */
export function isTooLong({ waitMs, lastsMs }: Outlook, share = 1): boolean {
    return waitMs > share * (lastsMs < BURST_MS ? BURST_WAIT_MS : LASTING_WAIT_MS);
}

const NOBODY_WAITS: Outlook = { waitMs: 0, lastsMs: 0 };

/** Nobody waits in it, and no rate is known. */
export function openWaitingLine(): WaitingLine {
    let joined = 0;
    let latest: Taken = { number: 0, at: Number.NEGATIVE_INFINITY };
    /** Of the last second, since jobs have had to wait; empty where they do not. */
    let counted: Taken[] = [];
    let waitingSince = Number.NEGATIVE_INFINITY;
    let waitingUntil = Number.NEGATIVE_INFINITY;
    let usualRunMs: number | undefined;
    let lastCallAt = Number.NEGATIVE_INFINITY;

    return {
        join(now) {
            forgetAfterRest(now);
            return ++joined;
        },
        taken(number, since, { toldAt, forMs }) {
            // One that came too late was taken and not run.
            if (forMs > 0) usualRunMs = usualRunMs === undefined ? forMs : usualRunMs + (forMs - usualRunMs) / RUNS;
            // Whoever joined before one that was taken was taken too.
            if (number <= latest.number) return;
            latest = { number, at: Math.max(toldAt - forMs, latest.at) };
            if (latest.at - since < NO_WAIT_MS) counted = [];
            else count();
        },
        outlook(now, { others, open }) {
            forgetAfterRest(now);
            const [first] = counted;
            if (first === undefined) return NOBODY_WAITS;
            const lastsMs = now - waitingSince;
            const before = Math.min(joined - latest.number, open) + others;
            const taken = latest.number - first.number;
            const silence = now - latest.at;
            const untold = Math.min(silence, UNTOLD_RUNS * (usualRunMs ?? 0));
            const span = latest.at - first.at + silence - untold;
            if (span < (taken < LEAST_TAKEN ? COUNTED_MS : LEAST_SPAN_MS)) return { waitMs: 0, lastsMs };
            return { waitMs: Math.min(LONGEST_MS, Math.max(0, (before * span) / Math.max(1, taken) - untold)), lastsMs };
        },
    };

    /** Silence of workers says nothing where nobody asked anything of them. */
    function forgetAfterRest(now: number): void {
        if (now - lastCallAt > CALM_MS) counted = [];
        lastCallAt = now;
    }

    function count(): void {
        if (latest.at - waitingUntil > CALM_MS) waitingSince = latest.at;
        waitingUntil = latest.at;
        const last = counted.at(-1);
        if (last === undefined || latest.at - last.at >= APART_MS) counted.push(latest);
        while (counted[1] !== undefined && latest.at - counted[1].at >= COUNTED_MS) counted.shift();
    }
}
