import { expect } from 'chai';
import { changePlan, openAccount, setLimits } from '../../shared/store/credits/accounts.ts';
import { type Books, openBooks, orderFor } from './books.ts';
import { beginMonth, passMonths } from './rushes.ts';

const DAY = 86_400;

describe('the allowance', () => {
    let books: Books;
    before(async () => {
        books = await openBooks();
    });
    afterEach(() => books.expectRightBooks());
    after(() => books.close());

    async function hold(accountId: string, maxUnits: number) {
        const order = orderFor(accountId, { maxUnits, userId: 'usr_nobody' });
        const held = await books.credits.hold(order);
        if (!held.ok) throw new Error('no hold');
        return order;
    }

    async function spend(accountId: string, amount: number) {
        const { operation } = await hold(accountId, amount);
        return books.credits.charge({ operation, amount });
    }

    const resetOf = async (accountId: string) => (await books.credits.balance(accountId))?.resetsAt.toISOString();

    describe('a month', () => {
        for (const [what, signUp, resets] of [
            ['ends on the same day', '2027-05-14', ['2027-06-14', '2027-07-14']],
            [
                'from the 31st ends on a short month’s last day, and comes back after it',
                '2027-01-31',
                ['2027-02-28', '2027-03-31', '2027-04-30'],
            ],
            ['in a leap year ends on February 29', '2028-01-30', ['2028-02-29', '2028-03-30']],
            ['from February 29 ends on February 28 in other years', '2028-02-29', ['2028-03-29', '2028-04-29']],
            ['goes over the turn of the year', '2027-12-31', ['2028-01-31', '2028-02-29', '2028-03-31']],
        ] as const) {
            it(what, async () => {
                await books.setTime(`${signUp}T10:30:00Z`);
                const account = await books.user({ allowance: 10 });
                for (const reset of resets) {
                    expect(await resetOf(account)).to.match(new RegExp(`^${reset}T10:30:0`));
                    await books.setTime(`${reset}T10:29:55Z`);
                    await spend(account, 1);
                    expect(await books.credits.balance(account)).to.include({ available: 9 });
                    await books.setTime(`${reset}T10:30:05Z`);
                    expect(await books.credits.balance(account)).to.include({ available: 10 });
                }
            });
        }

        it('is counted in UTC, whatever the time zone of the database', async () => {
            await books.setTime('2027-01-31T23:30:00Z');
            const account = await books.user({ allowance: 10 });
            await books.db.transaction(async (trx) => {
                await trx.raw("set local time zone 'Pacific/Auckland'");
                await trx.raw('select credits_refresh(?)', [account]);
                const { rows } = await trx.raw<{ rows: { reset: Date }[] }>(
                    'select credit_period_end(anchored_at, 1) as reset from credit_accounts where id = ?',
                    [account],
                );
                expect(rows[0]?.reset.toISOString()).to.match(/^2027-02-28T23:30/);
            });
        });

        it('that was not used only records its end', async () => {
            await books.setTime('2027-03-10T00:00:00Z');
            const account = await books.user({ allowance: 10 });
            await books.setTime('2028-06-10T00:00:10Z');
            await books.credits.sweep();
            expect(await books.story(account)).to.deep.equal(['grant +10', 'expire -10', 'grant +10']);
            expect(await resetOf(account)).to.match(/^2028-07-10/);
        });
    });

    describe('is reset, not added', () => {
        beforeEach(() => books.setTime('2027-05-01T00:00:00Z'));

        it('by the first hold of the new month', async () => {
            const account = await books.user({ allowance: 10, bonus: 5 });
            await spend(account, 4);
            await books.advance(31 * DAY);
            const order = orderFor(account, { maxUnits: 12 });
            expect(await books.credits.hold(order)).to.include({ ok: true, amount: 12, availableAfter: 3 });
            await books.credits.release(order);
            expect(await books.story(account)).to.deep.equal([
                'grant +10',
                'bonus +5',
                'hold -4 +4',
                'charge 0 -4',
                'expire -6',
                'grant +10',
                'hold -12 +12',
                'release +12 -12',
            ]);
        });

        it('by anyone who reads the balance', async () => {
            const account = await books.user({ allowance: 10 });
            await spend(account, 10);
            await books.advance(31 * DAY);
            expect(await books.credits.balance(account)).to.deep.include({ allowance: { limit: 10, remaining: 10 } });
        });

        it('by the sweeper, once, if nobody reads it', async () => {
            const account = await books.user({ allowance: 10 });
            await books.advance(31 * DAY);
            await Promise.all([books.credits.sweep(), books.others.sweep(), books.credits.sweep()]);
            expect(await books.story(account)).to.deep.equal(['grant +10', 'expire -10', 'grant +10']);
        });

        it('once, by 200 calls at the same time (R15)', () => beginMonth(books, { calls: 200 }));

        it('while calls run, and each call is charged to one month (R15)', () => passMonths(books, { months: 4, callers: 8 }));
    });

    describe('of a month that ended meanwhile', () => {
        beforeEach(() => books.setTime('2027-05-01T00:00:00Z'));

        it('expires when it is released, and the bonus returns', async () => {
            const account = await books.user({ allowance: 10, bonus: 10 });
            const { operation } = await hold(account, 14);
            await books.advance(31 * DAY);
            expect(await books.credits.release({ operation })).to.include({ before: 'held', available: 20 });
            expect(await books.credits.balance(account)).to.deep.include({ allowance: { limit: 10, remaining: 10 }, bonus: 10, held: 0 });
            expect(await books.story(account)).to.deep.equal([
                'grant +10',
                'bonus +10',
                'hold -14 +14',
                'grant +10',
                'release +14 -14',
                'lapse -10',
            ]);
        });

        it('pays for the call that held it, and the new month does not', async () => {
            const account = await books.user({ allowance: 10, bonus: 10 });
            const { operation } = await hold(account, 14);
            await books.advance(31 * DAY);
            expect(await books.credits.charge({ operation, amount: 7 })).to.include({ charged: 7, available: 20 });
            expect(await books.credits.balance(account)).to.deep.include({ allowance: { limit: 10, remaining: 10 }, bonus: 10 });
            expect(await books.story(account)).to.include.members(['charge +7 -14', 'lapse -3']);
        });

        it('expires also if the sweeper releases it', async () => {
            const account = await books.user({ allowance: 10 });
            await hold(account, 8);
            await books.advance(62 * DAY);
            await books.credits.sweep();
            expect(await books.credits.balance(account)).to.include({ available: 10, held: 0 });
        });
    });

    describe('with another plan', () => {
        beforeEach(() => books.setTime('2027-05-01T00:00:00Z'));

        async function upgraded(order: { allowance: number; bonus?: number; used?: number }) {
            const owner = await books.user(order);
            const workspace = await books.workspace(owner);
            if (order.used !== undefined) await spend(owner, order.used);
            await books.advance(10 * DAY);
            expect(await changePlan(books.db, workspace, { plan: 'pro', planAllowance: 600 })).to.equal(workspace);
            return { owner, workspace };
        }

        it('begins a new period at once, and the owner’s bonus moves with it', async () => {
            const { owner, workspace } = await upgraded({ allowance: 10, bonus: 7, used: 4 });
            expect(await books.credits.balance(workspace)).to.deep.include({
                allowance: { limit: 600, remaining: 600 },
                bonus: 7,
            });
            expect(await resetOf(workspace)).to.match(/^2027-06-11/);
            expect(await books.credits.balance(owner)).to.include({ bonus: 0 });
            expect((await books.story(owner)).at(-1)).to.equal('move -7');
            expect((await books.story(workspace)).at(-1)).to.equal('move +7');
        });

        it('returns the bonus with Free, and ends the paid allowance', async () => {
            const { owner, workspace } = await upgraded({ allowance: 10, bonus: 7 });
            expect(await changePlan(books.db, workspace, { plan: 'free', planAllowance: 10 })).to.equal(owner);
            expect(await books.credits.balance(workspace)).to.include({ available: 0 });
            expect(await books.credits.balance(owner)).to.deep.include({ allowance: { limit: 10, remaining: 10 }, bonus: 7 });
            await changePlan(books.db, workspace, { plan: 'starter', planAllowance: 300 });
            expect(await books.credits.balance(workspace)).to.deep.include({ allowance: { limit: 300, remaining: 300 }, bonus: 7 });
        });

        it('lets running calls end: their hold of the old allowance expires, their bonus follows its owner', async () => {
            const { owner, workspace } = await upgraded({ allowance: 0, bonus: 7 });
            const { operation } = await hold(workspace, 604);
            await changePlan(books.db, workspace, { plan: 'free', planAllowance: 10 });
            await books.credits.release({ operation });
            await books.credits.sweep();
            expect(await books.credits.balance(workspace)).to.include({ available: 0, held: 0 });
            expect(await books.credits.balance(owner)).to.include({ bonus: 7 });
        });

        it('adds nothing to the new period that the old one still held', async () => {
            const { workspace } = await upgraded({ allowance: 10 });
            const { operation } = await hold(workspace, 100);
            await changePlan(books.db, workspace, { plan: 'enterprise', planAllowance: 600, overrides: { allowance: 900, perMinute: 7 } });
            await books.credits.release({ operation });
            expect(await books.credits.balance(workspace)).to.deep.include({
                allowance: { limit: 900, remaining: 900 },
                overrides: { allowance: 900, perMinute: 7 },
            });
        });

        it('moves an inviter’s bonus to the account that the inviter pays with', async () => {
            const { owner, workspace } = await upgraded({ allowance: 10 });
            const invited = await books.user({ allowance: 2, invitedBy: owner });
            for (const day of [1, 2]) {
                const order = orderFor(invited);
                await books.credits.hold(order);
                await books.credits.charge({ operation: order.operation, amount: 1 });
                if (day === 1) await books.advance(86_400);
            }
            expect(await books.credits.balance(workspace)).to.include({ bonus: 100 });
        });

        it('leaves a user with another free workspace an account there', async () => {
            const owner = await books.user({ allowance: 10, bonus: 5 });
            const [one] = [await books.workspace(owner), await books.workspace(owner)];
            await changePlan(books.db, one, { plan: 'pro', planAllowance: 600 });
            const order = orderFor(owner);
            await books.credits.hold(order);
            await books.credits.charge({ operation: order.operation, amount: 1 });
            await books.credits.sweep();
            expect(await books.credits.balance(owner)).to.include({ bonus: 50 });
        });

        it('ends in one state, however many changes come at once', async () => {
            const { owner, workspace } = await upgraded({ allowance: 10, bonus: 7 });
            const plans = ['free', 'pro', 'starter', 'free', 'enterprise', 'pro'] as const;
            await Promise.all(plans.map((plan) => changePlan(books.db, workspace, { plan, planAllowance: plan === 'free' ? 10 : 600 })));
            const bonuses = await Promise.all([owner, workspace].map(async (id) => (await books.credits.balance(id))?.bonus ?? 0));
            expect(bonuses.toSorted()).to.deep.equal([0, 7]);
        });

        it('is refused for a workspace that does not exist', async () => {
            expect(await changePlan(books.db, 'wsp_nowhere', { plan: 'pro', planAllowance: 1 })).to.equal(undefined);
        });
    });

    describe('with another limit', () => {
        it('counts what was used already, and no more than that', async () => {
            const account = await books.user({ allowance: 100 });
            await spend(account, 30);
            await setLimits(books.db, account, { plan: 'free', planAllowance: 100, overrides: { allowance: 50 } });
            expect(await books.credits.balance(account)).to.deep.include({ allowance: { limit: 50, remaining: 20 } });
            await setLimits(books.db, account, { plan: 'free', planAllowance: 100 });
            expect(await books.credits.balance(account)).to.deep.include({ allowance: { limit: 100, remaining: 70 }, overrides: {} });
            await setLimits(books.db, account, { plan: 'free', planAllowance: 100, overrides: { allowance: 20 } });
            expect(await books.credits.balance(account)).to.deep.include({ allowance: { limit: 20, remaining: 0 } });
        });

        it('never leaves more than the limit, also when held credits return', async () => {
            const account = await books.user({ allowance: 100 });
            const { operation } = await hold(account, 100);
            await setLimits(books.db, account, { plan: 'free', planAllowance: 100, overrides: { allowance: 10 } });
            await books.credits.release({ operation });
            expect(await books.credits.balance(account)).to.deep.include({ allowance: { limit: 10, remaining: 10 } });
        });
    });

    it('is granted once, however often an account is opened', async () => {
        const account = await books.user({ allowance: 10 });
        await spend(account, 3);
        await Promise.all(Array.from({ length: 10 }, () => openAccount(books.db, { id: account, plan: 'free', planAllowance: 10 })));
        expect(await books.credits.balance(account)).to.include({ available: 7 });
    });
});
