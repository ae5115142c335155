import { expect } from 'chai';
import { createWaitEstimator } from '../../shared/domain/fetch/expected-wait.ts';

/** A job of the load: when it arrives, and how long it uses a slot. Milliseconds. */
interface Job {
    at: number;
    runMs: number;
}

/** These can run 800 jobs a second. */
const SLOTS = 80;
const QUICK_MS = 100;

describe('the queue of the workers', () => {
    it('admits a burst, even if it takes more than half a second', () => {
        expect(play(atOnce(500, 0)).refused).to.deep.equal([]);
    });

    it('rejects the excess of five times the capacity, keeps workers busy, and keeps waits short', () => {
        const { refused, waits, doneAt } = play(evenly(4000, 0, 20_000));
        expect(doneAt.filter((at) => at < 20_000).length).to.be.above(0.95 * 800 * 20);
        expect(refused.length).to.be.above(0.7 * 4000 * 20);
        const later = waits.filter(({ at }) => at > 4000).map(({ waited }) => waited);
        expect(Math.max(...later)).to.be.below(1300);
    });

    it('does so for twice and for ten times the capacity', () => {
        for (const perSecond of [1600, 8000]) {
            const { waits, doneAt } = play(evenly(perSecond, 0, 10_000));
            expect(doneAt.filter((at) => at < 10_000).length, `${perSecond}`).to.be.above(0.95 * 800 * 10);
            expect(Math.max(...waits.map(({ waited }) => waited)), `${perSecond}`).to.be.below(5000);
        }
    });

    it('rejects nobody as soon as the load falls', () => {
        const { refused } = play([...evenly(4000, 0, 5000), ...evenly(400, 5000, 10_000)]);
        expect(refused.filter((at) => at > 6000)).to.deep.equal([]);
    });

    it('rejects nobody at exactly the capacity', () => {
        expect(play(evenly(780, 0, 10_000)).refused).to.deep.equal([]);
    });

    it('rejects nobody if sites are slow and slots are free, however many calls are open', () => {
        const slow = evenly(400, 0, 10_000).map((job) => ({ ...job, runMs: 5000 }));
        expect(play([...slow, ...evenly(50, 0, 10_000)], 2500).refused).to.deep.equal([]);
        expect(play([...atOnce(1000, 0, 5000), ...evenly(50, 0, 10_000)], 1100).refused).to.deep.equal([]);
    });

    it('returns to the capacity after workers stopped or nearly stopped', () => {
        const nearly = (at: number) => (at >= 3000 && at < 8000 ? 30 * QUICK_MS : QUICK_MS);
        const wholly = (at: number) => (at >= 3000 && at < 8000 ? 8000 - at + QUICK_MS : QUICK_MS);
        for (const slowness of [nearly, wholly]) {
            const { doneAt } = play(evenly(4000, 0, 30_000), SLOTS, { timeoutMs: 2000, slowness });
            expect(doneAt.filter((at) => at >= 12_000 && at < 30_000).length).to.be.above(0.9 * 800 * 18);
        }
    });

    it('estimates a wait from callers who gave up, and none as soon as workers recover', () => {
        const line = createWaitEstimator();
        const enter = (count: number, enteredAt: number) =>
            Array.from({ length: count }, () => ({ number: line.enter(enteredAt), enteredAt }));
        for (const [at, fetch] of enter(80, 0).entries()) line.leave(fetch, 10 * at, 5);
        for (const fetch of enter(20, 800)) line.leave(fetch, 1300, undefined);
        const waiting = enter(40, 1300);
        expect(line.waitMs(1400)).to.be.above(400);
        for (const fetch of waiting) line.leave(fetch, 1400, 5);
        const [last] = enter(1, 1500);
        if (last !== undefined) line.leave(last, 1510, 5);
        expect(line.waitMs(1520)).to.equal(0);
    });

    it('estimates no wait from calls of a hanging site, as long as workers have free slots', () => {
        let hasFree = true;
        const line = createWaitEstimator({ hasFreeSlots: () => hasFree });
        const enter = (count: number, enteredAt: number) =>
            Array.from({ length: count }, () => ({ number: line.enter(enteredAt), enteredAt }));
        // On a busy machine, each of these ended late.
        for (const [at, fetch] of enter(20, 0).entries()) line.leave(fetch, 200 + 50 * at, 5);
        enter(60, 1200);
        expect(line.waitMs(1500)).to.equal(0);
        hasFree = false;
        expect(line.waitMs(1500)).to.be.above(1000);
        hasFree = true;
        expect(line.waitMs(10_000)).to.equal(0);
    });

    it('never estimates more than half a minute, however long nothing ran', () => {
        const line = createWaitEstimator();
        const numbers = Array.from({ length: 500 }, () => line.enter(0));
        line.leave({ number: numbers[0] ?? 0, enteredAt: 0 }, 300, 10);
        line.leave({ number: numbers[19] ?? 0, enteredAt: 0 }, 600, 10);
        for (let now = 1000; now < 60_000; now += 1000) expect(line.waitMs(now)).to.be.within(1, 30_000);
    });

    it('admits a burst again after a rest', () => {
        const { refused } = play([...evenly(4000, 0, 5000), ...atOnce(1500, 20_000)]);
        expect(refused.filter((at) => at >= 20_000)).to.deep.equal([]);
    });

    it('keeps admitting if slow sites fill all slots, and callers wait little longer than a call takes', () => {
        const { doneAt } = play(evenly(100, 0, 60_000, 1500), 80, { timeoutMs: 3000 });
        expect(doneAt.filter((at) => at >= 10_000 && at < 60_000).length).to.be.above(0.3 * (80 / 1.5) * 50);
    });

    it('keeps all slots busy if slow sites fill them', () => {
        const { refused, doneAt } = play(evenly(200, 0, 40_000, 1000));
        expect(refused.length).to.be.above(0);
        expect(doneAt.filter((at) => at < 40_000).length).to.be.above(0.9 * 80 * 39);
    });
});

function evenly(perSecond: number, from: number, until: number, runMs = QUICK_MS): Job[] {
    const count = ((until - from) * perSecond) / 1000;
    return Array.from({ length: count }, (_, index) => ({ at: from + ((index + 0.5) * 1000) / perSecond, runMs }));
}

function atOnce(count: number, at: number, runMs = QUICK_MS): Job[] {
    return Array.from({ length: count }, () => ({ at, runMs }));
}

interface Played {
    /** The arrival of each rejected job. */
    refused: number[];
    waits: { at: number; waited: number }[];
    doneAt: number[];
}

/**
 * Simulates jobs and workers with this many slots, millisecond by millisecond. The queue learns of a job when it ends. A caller without a
 * response in time gives up, and the waiting job is removed.
 * @param slowness the duration of a job that starts at a time, if it does not come from the job
 */
function play(
    load: readonly Job[],
    slots = SLOTS,
    {
        timeoutMs = Number.POSITIVE_INFINITY,
        slowness = (_at, job) => job.runMs,
    }: { timeoutMs?: number; slowness?: (at: number, job: Job) => number } = {},
): Played {
    const line = createWaitEstimator();
    const coming = load.toSorted((one, other) => one.at - other.at);
    const waiting: (Job & { number: number })[] = [];
    const running = new Map<number, (Job & { number: number; takenAt: number })[]>();
    const open = new Set<number>();
    const played: Played = { refused: [], waits: [], doneAt: [] };
    let [next, head, eldest, free] = [0, 0, 0, slots];
    for (let now = 0; next < coming.length || head < waiting.length || running.size > 0; now++) {
        for (const job of running.get(now) ?? []) {
            free++;
            if (!open.delete(job.number)) continue;
            line.leave({ number: job.number, enteredAt: job.at }, now, now - job.takenAt);
            played.doneAt.push(now);
        }
        running.delete(now);
        for (let job = waiting[eldest]; job !== undefined && job.at + timeoutMs <= now; job = waiting[++eldest]) {
            if (open.delete(job.number)) line.leave({ number: job.number, enteredAt: job.at }, now, undefined);
        }
        for (let job = coming[next]; job !== undefined && job.at <= now; job = coming[++next]) {
            if (line.isTooLong(now)) {
                played.refused.push(job.at);
                continue;
            }
            const number = line.enter(now);
            open.add(number);
            waiting.push({ ...job, number });
        }
        for (let job = waiting[head]; job !== undefined && free > 0; job = waiting[++head]) {
            if (!open.has(job.number)) continue;
            const end = now + slowness(now, job);
            running.set(end, [...(running.get(end) ?? []), { ...job, takenAt: now }]);
            played.waits.push({ at: job.at, waited: now - job.at });
            free--;
        }
    }
    return played;
}

/** Fetches that this process can handle in a second. */
const PACE = 800;

describe('the fetches inside a process', () => {
    it('are admitted as a burst, even if they take longer than a second', () => {
        expect(playHere(times(atOnce(1500, 0))).refused).to.deep.equal([]);
    });

    it('are limited to its capacity if five times as many come, and it stays busy', () => {
        const { refused, waits, doneAt } = playHere(times(evenly(5 * PACE, 0, 20_000)));
        expect(refused.length).to.be.above(0.7 * 5 * PACE * 20);
        expect(doneAt.filter((at) => at < 20_000).length).to.be.above(0.95 * PACE * 20);
        const later = waits.filter(({ at }) => at > 4000).map(({ waited }) => waited);
        expect(Math.max(...later)).to.be.below(1300);
    });

    it('are all admitted as soon as fewer come, and at exactly the capacity', () => {
        const less = [...evenly(5 * PACE, 0, 5000), ...evenly(PACE / 2, 5000, 10_000)];
        expect(playHere(times(less)).refused.filter((at) => at > 7000)).to.deep.equal([]);
        expect(playHere(times(evenly(0.97 * PACE, 0, 20_000))).refused).to.deep.equal([]);
        expect(playHere(times([...atOnce(1500, 0), ...atOnce(1500, 10_000)])).refused).to.deep.equal([]);
    });

    it('end for the process once a worker has them, however slow the site is', () => {
        expect(playHere(times(evenly(0.9 * PACE, 0, 20_000)), { siteMs: 10_000 }).refused).to.deep.equal([]);
    });

    it('return to the earlier number after the process nearly stopped and nobody was answered in time', () => {
        const paceAt = (at: number) => (at >= 3000 && at < 8000 ? PACE / 50 : PACE);
        const { doneAt } = playHere(times(evenly(5 * PACE, 0, 30_000)), { timeoutMs: 2000, paceAt });
        expect(doneAt.filter((at) => at >= 12_000 && at < 30_000).length).to.be.above(0.9 * PACE * 18);
    });
});

function times(jobs: readonly Job[]): number[] {
    return jobs.map(({ at }) => at);
}

interface Here {
    siteMs?: number;
    /** A caller that is still in this process by then gives up, and costs it nothing more. */
    timeoutMs?: number;
    paceAt?: (at: number) => number;
}

/** One after the other at a fixed rate, then a worker and its site. The way back through this process costs nothing here. */
function playHere(arrivals: number[], { siteMs = 0, timeoutMs = Number.POSITIVE_INFINITY, paceAt = () => PACE }: Here = {}): Played {
    const line = createWaitEstimator();
    const played: Played = { refused: [], waits: [], doneAt: [] };
    interface Fetch {
        number: number;
        enteredAt: number;
    }
    let inHand: Fetch[] = [];
    const withSite: (Fetch & { doneAt: number })[] = [];
    let freeAt = 0;
    for (const at of arrivals) {
        for (let first = inHand[0]; first !== undefined; first = inHand[0]) {
            const start = Math.max(freeAt, first.enteredAt);
            const end = start + 1000 / paceAt(start);
            if (end > at) break;
            freeAt = end;
            withSite.push({ ...first, doneAt: end + siteMs });
            played.waits.push({ at: first.enteredAt, waited: end - first.enteredAt });
            played.doneAt.push(end + siteMs);
            inHand.shift();
        }
        for (const late of inHand.filter(({ enteredAt }) => enteredAt + timeoutMs <= at)) line.leave(late, at, undefined);
        inHand = inHand.filter(({ enteredAt }) => enteredAt + timeoutMs > at);
        for (let first = withSite[0]; first !== undefined && first.doneAt <= at; first = withSite[0]) {
            line.leave(first, first.doneAt, siteMs);
            withSite.shift();
        }
        if (line.isTooLong(at)) played.refused.push(at);
        else inHand.push({ number: line.enter(at), enteredAt: at });
    }
    return played;
}
