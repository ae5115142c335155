import { expect } from 'chai';
import fc from 'fast-check';
import { newId } from '../../shared/domain/text/ids.ts';
import { checkLedger } from '../../shared/store/credits/ledger.ts';
import type { HoldOrder } from '../../shared/store/credits/moves.ts';
import { setAccountCap } from '../../shared/store/credits/spending.ts';
import { endHolds, type Held, holdJobs } from '../../shared/store/jobs/holds.ts';
import { type Books, openBooks, orderFor } from './books.ts';

const BATCH = 'bat_1';

describe('a slice of a batch', () => {
    let books: Books;
    before(async () => {
        books = await openBooks();
    });
    beforeEach(() => books.setTime('2027-05-10T10:00:00Z'));
    afterEach(() => books.expectRightBooks());
    after(() => books.close());

    /** A user who already had the bonus of a first call. */
    async function user(credits: { allowance?: number; bonus?: number }): Promise<string> {
        const id = await books.user(credits);
        await books.db.raw('update users set first_charged_at = app_now() where id = ?', [id]);
        return id;
    }

    const items = (account: string, count: number, more: Partial<HoldOrder> = {}) =>
        Array.from({ length: count }, () => orderFor(account, more));

    async function hold(orders: readonly HoldOrder[], batchId: string | null = BATCH): Promise<(Held | 'stale' | undefined)[]> {
        const held = await books.db.transaction((trx) => holdJobs(trx, orders, batchId));
        return orders.map(({ operation }) => held.get(operation));
    }

    /** Ends items that are held. `charges` are in the order of `orders`. */
    async function end(orders: readonly HoldOrder[], held: readonly (Held | 'stale' | undefined)[], charges: readonly (number | null)[]) {
        const jobs = orders.map(({ operation }, at) => {
            const mine = held[at];
            if (typeof mine !== 'object') throw new Error(`item ${at} holds nothing`);
            return { operation, hold: mine.hold, batchId: BATCH, held: mine.amount, charge: charges[at] ?? null };
        });
        const ends = await books.db.transaction((trx) => endHolds(trx, jobs));
        return orders.map(({ operation }) => ends.get(operation));
    }

    const entriesOf = (account: string): Promise<Record<string, unknown>[]> =>
        books
            .db('ledger_entries')
            .where({ account_id: account })
            .whereNotNull('batch_id')
            .orderBy('id')
            .select('kind', 'available_delta', 'held_delta', 'batch_id', 'items');
    const balanceOf = async (account: string) => {
        const balance = await books.credits.balance(account);
        return balance && { allowance: balance.allowance.remaining, bonus: balance.bonus, held: balance.held };
    };

    it('is one hold, charged in parts that name the batch and their number of items', async () => {
        const account = await user({ allowance: 100 });
        const orders = items(account, 5, { maxUnits: 3 });
        const held = await hold(orders);
        const [first] = held;
        expect(held).to.deep.equal(orders.map(() => ({ hold: (first as Held).hold, amount: 3, units: 3 })));
        expect(orders.map(({ operation }) => operation)).not.to.include((first as Held).hold);
        await end(orders.slice(0, 2), held.slice(0, 2), [1, 3]);
        expect(await balanceOf(account)).to.deep.equal({ allowance: 87, bonus: 0, held: 9 });
        await end(orders.slice(2, 3), held.slice(2, 3), [null]);
        const ends = await end(orders.slice(3), held.slice(3), [2, null]);
        expect(ends.map((one) => [one?.won, one?.charged, one?.available])).to.deep.equal([
            [true, 2, 94],
            [true, 0, 94],
        ]);
        expect(await entriesOf(account)).to.deep.equal(
            [
                { kind: 'hold', available_delta: -15, held_delta: 15, items: 5 },
                { kind: 'charge', available_delta: 2, held_delta: -6, items: 2 },
                { kind: 'release', available_delta: 3, held_delta: -3, items: 1 },
                { kind: 'charge', available_delta: 4, held_delta: -6, items: 2 },
            ].map((entry) => ({ ...entry, batch_id: BATCH })),
        );
        const operations = await books.db('ledger_entries').where({ account_id: account, kind: 'charge' }).pluck('operation');
        expect(new Set([...operations, (first as Held).hold]).size, 'each movement has an operation of its own').to.equal(3);
        const rows = await books.db('holds').where({ account_id: account }).select('state', 'amount', 'charged', 'items');
        expect(rows).to.deep.equal([{ state: 'charged', amount: 15, charged: 6, items: 5 }]);
    });

    it('holds for as many complete items as the balance pays for; the others wait', async () => {
        const account = await user({ allowance: 5, bonus: 3 });
        const orders = items(account, 4, { unit: 1, maxUnits: 3 });
        const held = await hold(orders);
        expect(held.map((one) => (one as Held | undefined)?.amount)).to.deep.equal([3, 3, undefined, undefined]);
        expect(await hold(items(account, 1, { maxUnits: 3 })), 'while something is held').to.deep.equal([undefined]);
        expect(await balanceOf(account)).to.deep.equal({ allowance: 0, bonus: 2, held: 6 });
        await end(orders.slice(0, 2), held, [1, null]);
        expect(await balanceOf(account), 'the allowance is spent first').to.deep.equal({ allowance: 4, bonus: 3, held: 0 });
    });

    it('holds the remaining credits for its first item if the account pays for none and holds nothing else', async () => {
        const account = await user({ allowance: 7 });
        const orders = items(account, 3, { unit: 2, maxUnits: 5 });
        const held = await hold(orders);
        const [first] = held;
        expect(first).to.deep.include({ amount: 6, units: 3 });
        expect(held.slice(1)).to.deep.equal([undefined, undefined]);
        await end(orders.slice(0, 1), held, [6]);
        expect(await hold(orders)).to.deep.equal([undefined, undefined, undefined]);
        expect((await entriesOf(account)).map(({ items }) => items)).to.deep.equal([1, 1]);
    });

    it('shares a hold only among items of one endpoint and cost; a write has its own, with its mark', async () => {
        const account = await user({ allowance: 100 });
        const alike = items(account, 2);
        const [dear] = items(account, 1, { maxUnits: 2 });
        const [other] = items(account, 1, { endpoint: 'product' });
        const writes = items(account, 2, { effect: 'write' });
        if (!dear || !other) throw new Error('there are four kinds');
        const orders = [...alike, dear, other, ...writes];
        const held = await hold(orders);
        const names = held.map((one) => (one as Held).hold);
        expect(names[0]).to.equal(names[1]);
        expect(new Set(names).size).to.equal(5);
        expect(names.slice(4)).to.deep.equal(writes.map(({ operation }) => operation));
        expect(await books.credits.markSent(names[4] ?? '')).to.equal(true);
        const ends = await end(orders, held, [1, 1, 1, 1, null, 1]);
        expect(ends.map((one) => one?.marked)).to.deep.equal([false, false, false, false, true, false]);
        expect((await balanceOf(account))?.allowance).to.equal(95);
    });

    it('starts nothing if its site has changed, and does not affect items of other sites', async () => {
        const account = await user({ allowance: 10 });
        const changed = items(account, 2, { siteState: { registrable: 'shop.example', revision: 'of before' } });
        const same = items(account, 1, { site: 'other.example' });
        const held = await hold([...changed, ...same]);
        expect(held.slice(0, 2)).to.deep.equal(['stale', 'stale']);
        expect(held[2]).to.include({ amount: 1 });
        await end(same, held.slice(2), [1]);
    });

    it('returns the rest when its time is over, and charges nothing that ends later', async () => {
        const account = await user({ allowance: 10 });
        const orders = items(account, 3);
        const held = await hold(orders);
        await end(orders.slice(0, 1), held, [1]);
        await books.advance(60);
        await books.credits.sweep();
        expect(await balanceOf(account)).to.deep.equal({ allowance: 9, bonus: 0, held: 0 });
        const ends = await end(orders.slice(1), held.slice(1), [1, null]);
        expect(ends.map((one) => [one?.won, one?.charged])).to.deep.equal([
            [false, 0],
            [false, 0],
        ]);
        expect(await balanceOf(account)).to.deep.equal({ allowance: 9, bonus: 0, held: 0 });
        expect((await entriesOf(account)).at(-1)).to.include({ kind: 'release', held_delta: -2, items: 2 });
    });

    it('observes a daily cap, also one that is set while it runs', async () => {
        const account = await user({ allowance: 1000 });
        const before = items(account, 4, { maxUnits: 3 });
        const running = await hold(before);
        await end(before.slice(0, 2), running, [1, null]);
        await setAccountCap(books.db, account, 20);
        // Until the slice ends, its items count with their full hold, except for what was charged less: 12 of 20.
        const orders = items(account, 5, { maxUnits: 2 });
        const held = await hold(orders);
        expect(held.filter((one) => one !== undefined)).to.have.length(4);
        await end(before.slice(2), running.slice(2), [2, null]);
        await end(orders.slice(0, 4), held, [2, 2, 2, 1]);
        // 3 of the first slice and 7 of the second one are spent.
        const single = await books.credits.hold(orderFor(account, { maxUnits: 50 }));
        expect(single).to.include({ ok: true, amount: 10 });
        for (const open of await books.db('holds').where({ state: 'held' })) await books.credits.release({ operation: open.operation });
    });

    it('returns the allowance of an ended period to nobody', async () => {
        const account = await user({ allowance: 2, bonus: 2 });
        const orders = items(account, 4, { expiresInMs: 90 * 86_400_000 });
        const held = await hold(orders);
        await end(orders.slice(0, 1), held, [null]);
        expect(await balanceOf(account)).to.deep.equal({ allowance: 1, bonus: 0, held: 3 });
        await books.advance(32 * 86_400);
        await end(orders.slice(1), held.slice(1), [null, null, null]);
        expect(await balanceOf(account)).to.deep.equal({ allowance: 2, bonus: 2, held: 0 });
        expect((await entriesOf(account)).at(-1)).to.include({ kind: 'lapse', available_delta: -1 });
    });

    it('sums to the charges of its items, however they end', async () => {
        const lives = fc.record({
            allowance: fc.nat({ max: 30 }),
            bonus: fc.nat({ max: 30 }),
            cost: fc.integer({ min: 1, max: 4 }),
            charges: fc.array(fc.option(fc.nat({ max: 5 })), { minLength: 1, maxLength: 8 }),
            together: fc.integer({ min: 1, max: 4 }),
        });
        await fc.assert(
            fc.asyncProperty(lives, async ({ allowance, bonus, cost, charges, together }) => {
                const account = await user({ allowance, bonus });
                const orders = items(account, charges.length, { unit: cost });
                const held = await hold(orders);
                const paid = Math.min(charges.length, Math.floor((allowance + bonus) / cost));
                expect(held.filter((one) => one !== undefined)).to.have.length(paid);
                let spent = 0;
                for (let from = 0; from < paid; from += together) {
                    const to = Math.min(paid, from + together);
                    for (const one of await end(orders.slice(from, to), held.slice(from, to), charges.slice(from, to)))
                        spent += one?.charged ?? 0;
                    const { held: left = 0, ...now } = (await balanceOf(account)) ?? { allowance: 0, bonus: 0 };
                    expect([left, now.allowance + now.bonus + left]).to.deep.equal([(paid - to) * cost, allowance + bonus - spent]);
                }
                expect(spent).to.equal(charges.slice(0, paid).reduce<number>((sum, charge) => sum + Math.min(charge ?? 0, cost), 0));
                expect(await checkLedger(books.db)).to.deep.equal([]);
            }),
            { numRuns: 60 },
        );
    });

    it('of a single job names no batch', async () => {
        const account = await user({ allowance: 3 });
        const [order] = items(account, 1, { operation: newId('op'), maxUnits: 2 });
        if (!order) throw new Error('there is one');
        expect(await hold([order], null)).to.deep.equal([{ hold: order.operation, amount: 2, units: 2 }]);
        await books.credits.charge({ operation: order.operation, amount: 1 });
        expect(await entriesOf(account)).to.deep.equal([]);
        expect(await books.story(account)).to.deep.equal(['grant +3', 'hold -2 +2', 'charge +1 -2']);
    });
});
