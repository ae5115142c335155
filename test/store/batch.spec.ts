import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { type Batch, BatchClosed, openBatch, WaitedTooLong } from '../../shared/platform/batch.ts';

/** A batch that was sent and waits for its outcome. */
interface Departed {
    items: readonly string[];
    arrive(): void;
    fail(error: Error): void;
}

class Outage extends Error {}

describe('a batch', () => {
    let departed: Departed[];
    let batch: Batch<string, string>;

    const open = (maxWaitMs?: number) =>
        openBatch<string, string>({
            run: (items) =>
                new Promise((resolve, reject) => {
                    departed.push({ items, arrive: () => resolve(items.map((item) => `${item} done`)), fail: reject });
                }),
            keyOf: (item) => item,
            failsWholeBatch: (error) => error instanceof Outage,
            failsWithBatch: (item) => item.startsWith('hold'),
            maxInFlight: 1,
            ...(maxWaitMs === undefined ? {} : { maxWaitMs }),
        });
    const outcomeOf = (item: string) =>
        batch.add(item).then(
            (verdict) => verdict,
            (error: unknown) => error,
        );
    /** Adds items. When this resolves, the first one was sent alone and the others wait. */
    const addBehind = async (first: string, ...others: string[]) => {
        const outcomes = [outcomeOf(first)];
        await nextTurn();
        outcomes.push(...others.map(outcomeOf));
        await nextTurn();
        expect(departed.map(({ items }) => items)).to.deep.equal([[first]]);
        return outcomes;
    };
    const isOver = (promise: Promise<unknown>) => Promise.race([promise.then(() => true), nextTurn(false)]);

    beforeEach(() => {
        departed = [];
        batch = open();
    });

    it('has at most its maximum of weight, or a single item', async () => {
        batch = openBatch<string, string>({
            run: (items) =>
                new Promise((resolve) => {
                    departed.push({ items, arrive: () => resolve([...items]), fail: () => {} });
                }),
            sizeOf: (item) => item.length,
            maxTotal: 5,
            maxInFlight: 10,
        });
        const all = ['aa', 'larger than that', 'bbb', 'cc', 'd'];
        const outcomes = all.map(outcomeOf);
        await nextTurn();
        expect(departed.map(({ items }) => items)).to.deep.equal([['aa', 'bbb'], ['larger than that'], ['cc', 'd']]);
        for (const { arrive } of departed) arrive();
        expect(await Promise.all(outcomes)).to.deep.equal(all);
    });

    it('contains what arrives in one turn, and the next batch what came while it ran', async () => {
        const outcomes = await addBehind('a', 'b', 'c');
        departed[0]?.arrive();
        await nextTurn();
        await nextTurn();
        expect(departed[1]?.items).to.deep.equal(['b', 'c']);
        departed[1]?.arrive();
        expect(await Promise.all(outcomes)).to.deep.equal(['a done', 'b done', 'c done']);
    });

    it('never has two items with one key, and gives each its own outcome', async () => {
        const outcomes = Promise.all(['a', 'b', 'a'].map(outcomeOf));
        await nextTurn();
        departed[0]?.arrive();
        await nextTurn();
        await nextTurn();
        departed[1]?.arrive();
        expect(departed.map(({ items }) => items)).to.deep.equal([['a', 'b'], ['a']]);
        expect(await outcomes).to.deep.equal(['a done', 'b done', 'a done']);
    });

    it('that fails because of one item fails for that one alone', async () => {
        const fault = new Error('c is wrong');
        batch = openBatch<string, string>({
            run: (items) => (items.includes('c') ? Promise.reject(fault) : Promise.resolve(items)),
            keyOf: (item) => item,
            failsWholeBatch: (error) => error instanceof Outage,
        });
        expect(await Promise.all(['a', 'b', 'c', 'd'].map(outcomeOf))).to.deep.equal(['a', 'b', fault, 'd']);
    });

    it('that fails for all items is not run again', async () => {
        const lost = new Outage('the link is lost');
        const outcomes = Promise.all(['a', 'b'].map(outcomeOf));
        await nextTurn();
        departed[0]?.fail(lost);
        expect(await outcomes).to.deep.equal([lost, lost]);
        expect(departed).to.have.length(1);
    });

    it('that fails for all items fails waiting ones of the same kind with it, and no others', async () => {
        const lost = new Outage('the link is lost');
        const [first, second, third] = await addBehind('a', 'hold b', 'c');
        departed[0]?.fail(lost);
        expect(await Promise.all([first, second])).to.deep.equal([lost, lost]);
        await nextTurn();
        await nextTurn();
        expect(departed[1]?.items).to.deep.equal(['c']);
        departed[1]?.arrive();
        expect(await third).to.equal('c done');
    });

    it('waits for what was sent when it is closed, also if waiting items are rejected', async () => {
        const lost = new Outage('no connection');
        const [first, second] = await addBehind('a', 'hold b');
        const closed = batch.close();
        expect(await outcomeOf('late')).to.be.instanceOf(BatchClosed);
        expect(await isOver(closed)).to.equal(false);
        departed[0]?.fail(lost);
        expect(await Promise.all([first, second])).to.deep.equal([lost, lost]);
        await closed;
        expect(departed).to.have.length(1);
    });

    it('lets no item wait beyond the limit', async () => {
        batch = open(20);
        const [first, second] = await addBehind('a', 'b');
        expect(await second).to.be.instanceOf(WaitedTooLong);
        departed[0]?.arrive();
        expect(await first).to.equal('a done');
        await batch.close();
        expect(departed).to.have.length(1);
    });
});
