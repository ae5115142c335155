import { expect } from 'chai';
import { createBacklog } from '../../shared/domain/fetch/backlog.ts';

/** Calls that this process can do in a second. */
const PACE = 800;

describe('the calls that a process has in hand', () => {
    it('are let in as a burst, although they take longer than a second', () => {
        expect(play(burst(1500, 0)).refused).to.deep.equal([]);
    });

    it('are no more than it does in a second where five times as many come, and it stays busy', () => {
        const { refused, waits, doneAt } = play(evenly(5 * PACE, 0, 20_000));
        expect(refused.length).to.be.above(0.7 * 5 * PACE * 20);
        expect(doneAt.filter((at) => at < 20_000).length).to.be.above(0.95 * PACE * 20);
        const later = waits.filter(({ at }) => at > 4000).map(({ waited }) => waited);
        expect(Math.max(...later)).to.be.below(1300);
    });

    it('are all let in as soon as fewer come, and where as many come as it can just do', () => {
        expect(play([...evenly(5 * PACE, 0, 5000), ...evenly(PACE / 2, 5000, 10_000)]).refused.filter((at) => at > 7000)).to.deep.equal([]);
        expect(play(evenly(0.97 * PACE, 0, 20_000)).refused).to.deep.equal([]);
        expect(play([...burst(1500, 0), ...burst(1500, 10_000)]).refused).to.deep.equal([]);
    });

    it('are done once a worker has them, however slow the site is', () => {
        expect(play(evenly(0.9 * PACE, 0, 20_000), { siteMs: 10_000 }).refused).to.deep.equal([]);
    });

    it('are as many as before after the process stood nearly still, and nobody was answered in time', () => {
        const paceAt = (at: number) => (at >= 3000 && at < 8000 ? PACE / 50 : PACE);
        const { doneAt } = play(evenly(5 * PACE, 0, 30_000), { timeoutMs: 2000, paceAt });
        expect(doneAt.filter((at) => at >= 12_000 && at < 30_000).length).to.be.above(0.9 * PACE * 18);
    });

    it('are a bounded number where nothing goes on at all', () => {
        const hands = createBacklog();
        const verdicts = Array.from({ length: 5000 }, (_, at) => hands.tooLongMs(at, { inHand: Math.min(at, 2000), withWorkers: 0 }));
        expect(verdicts.slice(0, 1000).every((verdict) => verdict === undefined)).to.equal(true);
        expect(verdicts.at(-1)).to.equal(30_000);
    });
});

interface World {
    siteMs?: number;
    /** Who is not through with this process by then gives up, and costs it nothing more. */
    timeoutMs?: number;
    paceAt?: (at: number) => number;
}

/** One after the other at a pace, then a worker and its site; a second crossing of this process costs nothing here. */
function play(
    arrivals: number[],
    { siteMs = 0, timeoutMs = Number.POSITIVE_INFINITY, paceAt = () => PACE }: World = {},
): { refused: number[]; waits: { at: number; waited: number }[]; doneAt: number[] } {
    const hands = createBacklog();
    const refused: number[] = [];
    const waits: { at: number; waited: number }[] = [];
    const doneAt: number[] = [];
    /** When calls came that wait for their turn. */
    let inHand: number[] = [];
    /** When calls that were let in are through with this process, and when they are answered. */
    const handed: number[] = [];
    let freeAt = 0;
    let answered = 0;
    for (const at of arrivals) {
        for (let first = inHand[0]; first !== undefined; first = inHand[0]) {
            const start = Math.max(freeAt, first);
            const end = start + 1000 / paceAt(start);
            if (end > at) break;
            freeAt = end;
            handed.push(end);
            waits.push({ at: first, waited: end - first });
            doneAt.push(end + siteMs);
            inHand.shift();
        }
        inHand = inHand.filter((came) => came + timeoutMs > at);
        while ((handed[answered] ?? Number.POSITIVE_INFINITY) + siteMs <= at) {
            answered++;
            hands.left();
        }
        const isRefused = hands.tooLongMs(at, { inHand: inHand.length, withWorkers: handed.length - answered }) !== undefined;
        (isRefused ? refused : inHand).push(at);
    }
    return { refused, waits, doneAt };
}

function evenly(perSecond: number, from: number, until: number): number[] {
    return Array.from({ length: ((until - from) * perSecond) / 1000 }, (_, index) => from + ((index + 0.5) * 1000) / perSecond);
}

function burst(count: number, at: number): number[] {
    return Array.from({ length: count }, () => at);
}
