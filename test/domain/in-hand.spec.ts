import { expect } from 'chai';
import { openInHand } from '../../shared/domain/in-hand.ts';

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

    it('are a bounded number where nothing goes on at all', () => {
        const hands = openInHand();
        const verdicts = Array.from({ length: 5000 }, (_, at) => hands.tooLongMs(at, { inHand: Math.min(at, 2000), withWorkers: 0 }));
        expect(verdicts.slice(0, 1000).every((verdict) => verdict === undefined)).to.equal(true);
        expect(verdicts.at(-1)).to.equal(30_000);
    });
});

/** One after the other at PACE a second, then a worker and its site; a second crossing of this process costs nothing here. */
function play(arrivals: number[], { siteMs = 0 } = {}): { refused: number[]; waits: { at: number; waited: number }[]; doneAt: number[] } {
    const hands = openInHand();
    const refused: number[] = [];
    const waits: { at: number; waited: number }[] = [];
    const doneAt: number[] = [];
    /** When calls that were let in are through with this process, and when they are answered. */
    const handed: number[] = [];
    let freeAt = 0;
    let through = 0;
    let answered = 0;
    for (const at of arrivals) {
        while ((handed[through] ?? Number.POSITIVE_INFINITY) <= at) through++;
        while ((handed[answered] ?? Number.POSITIVE_INFINITY) + siteMs <= at) {
            answered++;
            hands.left();
        }
        if (hands.tooLongMs(at, { inHand: handed.length - through, withWorkers: through - answered }) !== undefined) {
            refused.push(at);
            continue;
        }
        freeAt = Math.max(freeAt, at) + 1000 / PACE;
        handed.push(freeAt);
        waits.push({ at, waited: freeAt - at });
        doneAt.push(freeAt + siteMs);
    }
    return { refused, waits, doneAt };
}

function evenly(perSecond: number, from: number, until: number): number[] {
    return Array.from({ length: ((until - from) * perSecond) / 1000 }, (_, index) => from + ((index + 0.5) * 1000) / perSecond);
}

function burst(count: number, at: number): number[] {
    return Array.from({ length: count }, () => at);
}
