import { expect } from 'chai';
import { newId } from '../../shared/domain/text/ids.ts';
import { accountCap, keyCap, setAccountCap, setKeyCap } from '../../shared/store/credits/spending.ts';
import { type Books, openBooks, orderFor } from './books.ts';

const HOUR = 3600;

describe('a spending cap of an account', () => {
    let books: Books;
    before(async () => {
        books = await openBooks();
    });
    beforeEach(() => books.setTime('2027-05-10T10:00:00Z'));
    afterEach(() => books.expectRightBooks());
    after(() => books.close());

    async function account(options: { cap?: number; allowance?: number } = {}) {
        const id = await books.user({ allowance: options.allowance ?? 1_000 });
        const workspace = await books.workspace(id);
        const keyId = newId('key');
        await books.db.raw('insert into api_keys (id, workspace_id, user_id, name, hash, prefix) values (?, ?, ?, ?, ?, ?)', [
            ...[keyId, workspace, id, 'key', Buffer.from(keyId.padEnd(32).slice(-32)), 'rb_live_test'],
        ]);
        await books.db.raw('update users set first_charged_at = app_now() where id = ?', [id]);
        if (options.cap !== undefined) await setAccountCap(books.db, id, options.cap);
        const hold = (maxUnits: number, more: { unit?: number; keyId?: string; isCapped?: boolean; via?: Books['credits'] } = {}) => {
            const { via = books.credits, ...rest } = more;
            const order = orderFor(id, { workspaceId: workspace, keyId, maxUnits, isCapped: true, ...rest });
            return via.hold(order).then((verdict) => ({ order, verdict }));
        };
        const spend = async (amount: number, charge = amount) => {
            const { order, verdict } = await hold(amount);
            if (verdict.ok) await books.credits.charge({ operation: order.operation, amount: Math.min(charge, verdict.amount) });
            return verdict;
        };
        return { id, keyId, hold, spend };
    }

    it('lets calls spend up to it, and then names the cap, what is used and when it resets', async () => {
        const { spend } = await account({ cap: 10 });
        expect(await spend(7)).to.include({ ok: true, amount: 7 });
        expect(await spend(5), 'fewer units where the cap leaves fewer').to.include({ ok: true, amount: 3 });
        expect(await spend(1)).to.deep.equal({
            ok: false,
            available: 990,
            reached: { of: 'account', cap: 10, spent: 10, resetsAt: new Date('2027-05-11T00:00:00Z') },
        });
    });

    it('counts what is held, and frees what was not charged', async () => {
        const { hold, spend } = await account({ cap: 10 });
        const { order } = await hold(8);
        expect((await hold(3)).verdict).to.include({ ok: true, amount: 2 });
        expect((await hold(1)).verdict).to.have.nested.property('reached.spent', 10);
        await books.credits.charge({ operation: order.operation, amount: 1 });
        expect(await spend(20)).to.include({ ok: true, amount: 7 });
        await books.credits.sweep();
        for (const { operation } of await openHolds()) await books.credits.release({ operation });
        expect(await spend(20)).to.include({ ok: true, amount: 2 });
    });

    it('frees what a sweeper released', async () => {
        const { hold, spend } = await account({ cap: 10 });
        await hold(10);
        await books.advance(60);
        await books.credits.sweep();
        expect(await spend(10)).to.include({ ok: true, amount: 10 });
    });

    it('resets at midnight, UTC; holds of the day before do not count in the new day', async () => {
        const { hold, spend } = await account({ cap: 10 });
        const { order } = await hold(10);
        await books.advance(14 * HOUR);
        expect(await spend(4)).to.include({ ok: true, amount: 4 });
        await books.credits.release(order);
        expect(await spend(9)).to.include({ ok: true, amount: 6 });
    });

    it('counts what was spent on the day before it was set', async () => {
        const { id, hold, spend } = await account();
        const { order } = await hold(30, { isCapped: false });
        await books.credits.charge({ operation: order.operation, amount: 25 });
        const { order: open } = await hold(20, { isCapped: false });
        await setAccountCap(books.db, id, 50);
        expect(await spend(9)).to.include({ ok: true, amount: 5 });
        await books.credits.release(open);
        expect(await spend(30)).to.include({ ok: true, amount: 20 });
        expect(await accountCap(books.db, id)).to.deep.equal({ cap: 50, spent: 50 });
    });

    it('counts nothing of the previous day', async () => {
        const { id, hold, spend } = await account();
        const { order } = await hold(30, { isCapped: false });
        await books.credits.charge({ operation: order.operation, amount: 25 });
        await books.advance(15 * HOUR);
        await setAccountCap(books.db, id, 10);
        expect(await spend(10)).to.include({ ok: true, amount: 10 });
    });

    it('of a key applies to this key only, and the account’s to all of them', async () => {
        const { id, keyId, hold, spend } = await account({ cap: 15 });
        await setKeyCap(books.db, keyId, 10);
        expect(await spend(20)).to.include({ ok: true, amount: 10 });
        expect(await spend(1)).to.have.nested.property('reached.of', 'key');
        const { order, verdict } = await hold(20, { keyId: 'key_of_a_friend' });
        expect(verdict).to.include({ ok: true, amount: 5 });
        await books.credits.charge({ operation: order.operation, amount: 5 });
        expect((await hold(1, { keyId: 'key_of_a_friend' })).verdict).to.have.nested.property('reached.of', 'account');
        expect(await keyCap(books.db, keyId)).to.deep.equal({ cap: 10, spent: 10 });
        expect(await accountCap(books.db, id)).to.deep.equal({ cap: 15, spent: 15 });
    });

    it('below one unit allows none, however many credits there are; missing credits are reported first', async () => {
        const rich = await account({ cap: 4 });
        expect((await rich.hold(1, { unit: 5 })).verdict).to.have.nested.property('reached.spent', 0);
        const poor = await account({ cap: 4, allowance: 3 });
        expect((await poor.hold(1, { unit: 5 })).verdict).to.deep.equal({ ok: false, available: 3 });
    });

    it('of zero stops everything, and no cap stops nothing', async () => {
        const { id, spend } = await account({ cap: 0 });
        expect(await spend(1)).to.have.nested.property('reached.cap', 0);
        await setAccountCap(books.db, id, null);
        expect(await spend(500)).to.include({ ok: true, amount: 500 });
    });

    it('is never exceeded by concurrent calls of two processes', async () => {
        const { id, hold } = await account({ cap: 50 });
        const verdicts = await Promise.all(
            Array.from({ length: 120 }, (_, place) => hold(1, { via: place % 2 === 0 ? books.credits : books.others })),
        );
        const held = verdicts.filter(({ verdict }) => verdict.ok);
        expect(held).to.have.length(50);
        await Promise.all(
            held.map(({ order }, place) =>
                place % 2 === 0 ? books.others.charge({ operation: order.operation, amount: 1 }) : books.credits.release(order),
            ),
        );
        const again = await Promise.all(Array.from({ length: 60 }, () => hold(1)));
        expect(again.filter(({ verdict }) => verdict.ok)).to.have.length(25);
        for (const { order, verdict } of again) if (verdict.ok) await books.credits.charge({ operation: order.operation, amount: 1 });
        expect(await accountCap(books.db, id)).to.deep.equal({ cap: 50, spent: 50 });
    });

    it('holds and settles at the same time without a deadlock', async () => {
        const { id, spend } = await account({ cap: 400 });
        const verdicts = await Promise.all(Array.from({ length: 100 }, () => spend(3, 1)));
        expect(verdicts.filter(({ ok }) => ok).length).to.equal(100);
        await spend(0 + 1);
        expect((await accountCap(books.db, id)).spent).to.equal(101);
    });

    it('applies at once, also in processes that have not read it yet', async () => {
        const { id, hold } = await account({ cap: 1 });
        const { order, verdict } = await hold(5, { isCapped: false });
        expect(verdict).to.include({ ok: true, amount: 1 });
        await books.credits.release(order);
        expect((await hold(1, { isCapped: false })).verdict).to.include({ ok: true });
        expect(await accountCap(books.db, id)).to.include({ spent: 1 });
        for (const open of await openHolds()) await books.credits.release(open);
    });

    async function openHolds(): Promise<{ operation: string }[]> {
        const { rows } = await books.db.raw<{ rows: { operation: string }[] }>(
            "select operation from holds where state in ('held', 'sent')",
        );
        return rows;
    }
});
