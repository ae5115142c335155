import { expect } from 'chai';
import { changePlan } from '../../shared/store/credits/accounts.ts';
import { earnContribution } from '../../shared/store/credits/bonuses.ts';
import { type Books, openBooks, orderFor } from './books.ts';
import { contribute, fetchFirst, fetchInvited } from './rushes.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;

describe('credits earned', () => {
    let books: Books;
    before(async () => {
        books = await openBooks();
        // Months are calendar months, so the test starts far from the end of one.
        await books.setTime('2027-05-10T00:00:00Z');
    });
    afterEach(() => books.expectRightBooks());
    after(() => books.close());

    /** One fetch of a user, by default paid by the user's own account. */
    async function fetchOnce(userId: string, { accountId = userId, amount = 1, credits = books.credits } = {}) {
        const order = orderFor(accountId, { userId });
        const held = await credits.hold(order);
        if (!held.ok) throw new Error('no hold');
        const bill = await credits.charge({ operation: order.operation, amount });
        if (!bill.ok) throw new Error('no charge');
        return bill;
    }

    const bonusOf = async (accountId: string) => (await books.credits.balance(accountId))?.bonus;

    describe('with the first fetch', () => {
        it('are in its own response', async () => {
            const user = await books.user({ allowance: 10 });
            expect(await fetchOnce(user)).to.include({ charged: 1, available: 59, firstFetchBonus: 50 });
            expect(await fetchOnce(user)).to.include({ charged: 1, available: 58, firstFetchBonus: 0 });
            expect(await books.story(user)).to.deep.equal([
                'grant +10',
                'hold -1 +1',
                'charge 0 -1',
                'first_fetch +50',
                'hold -1 +1',
                'charge 0 -1',
            ]);
        });

        it('wait for a fetch that costs something', async () => {
            const user = await books.user({ allowance: 10 });
            expect(await fetchOnce(user, { amount: 0 })).to.include({ charged: 0, available: 10, firstFetchBonus: 0 });
            expect(await fetchOnce(user)).to.include({ firstFetchBonus: 50 });
        });

        it('are not earned by a failed fetch', async () => {
            const user = await books.user({ allowance: 10 });
            const order = orderFor(user);
            await books.credits.hold(order);
            await books.credits.release(order);
            expect(await bonusOf(user)).to.equal(0);
        });

        it('come once for 100 first fetches at the same time (R16)', () => fetchFirst(books, { atOnce: 100 }));

        it('come to each member of a workspace, on the account that pays', async () => {
            const [payer, ...members] = await Promise.all([books.user({ allowance: 10 }), books.user({}), books.user({}), books.user({})]);
            await Promise.all(members.map((member) => fetchOnce(member, { accountId: payer })));
            expect(await bonusOf(payer)).to.equal(150);
        });
    });

    describe('by inviting', () => {
        beforeEach(() => books.setTime('2027-05-10T20:00:00Z'));

        it('come with the charged fetch of the invited user on a second day, whatever the inviter did', async () => {
            const inviter = await books.user({ allowance: 10 });
            const invited = await books.user({ allowance: 10, invitedBy: inviter });
            await fetchOnce(invited);
            await books.advance(3 * HOUR);
            expect(await fetchOnce(invited)).to.include({ firstFetchBonus: 0 });
            expect(await bonusOf(inviter)).to.equal(0);
            // Five hours after the first one, but the next day in UTC.
            await books.advance(2 * HOUR);
            expect(await fetchOnce(invited)).to.include({ charged: 1, available: 57, firstFetchBonus: 0 });
            expect(await bonusOf(inviter)).to.equal(100);
            await books.advance(DAY);
            await fetchOnce(invited);
            expect(await bonusOf(inviter)).to.equal(100);
            expect(await books.story(inviter)).to.deep.equal(['grant +10', 'referral +100']);
        });

        it('wait on the second day too for a fetch that costs something', async () => {
            const inviter = await books.user({});
            const invited = await books.user({ allowance: 10, invitedBy: inviter });
            await fetchOnce(invited);
            await books.advance(DAY);
            await fetchOnce(invited, { amount: 0 });
            const order = orderFor(invited);
            await books.credits.hold(order);
            await books.credits.release(order);
            expect(await bonusOf(inviter)).to.equal(0);
            await books.advance(40 * DAY);
            await fetchOnce(invited);
            expect(await bonusOf(inviter)).to.equal(100);
        });

        it('are counted in the month in which they are paid', async () => {
            const inviter = await books.user({});
            const people = await Promise.all(Array.from({ length: 21 }, () => books.user({ allowance: 10, invitedBy: inviter })));
            await books.setTime('2027-05-31T20:00:00Z');
            await Promise.all(people.map((user) => fetchOnce(user)));
            await books.setTime('2027-06-01T01:00:00Z');
            await Promise.all(people.slice(1).map((user) => fetchOnce(user)));
            expect(await bonusOf(inviter)).to.equal(2000);
            await books.setTime('2027-07-01T01:00:00Z');
            await fetchOnce(people[0] ?? '');
            expect(await bonusOf(inviter)).to.equal(2100);
        });

        it('reach the account that the inviter pays with by then', async () => {
            const inviter = await books.user({});
            const workspace = await books.workspace(inviter);
            const invited = await books.user({ allowance: 10, invitedBy: inviter });
            await fetchOnce(invited);
            await changePlan(books.db, workspace, { plan: 'pro', planAllowance: 100 });
            await books.advance(DAY);
            await fetchOnce(invited);
            expect(await Promise.all([inviter, workspace].map(bonusOf))).to.deep.equal([0, 100]);
        });

        it('come once for 100 triggers at the same time (R16)', () => fetchInvited(books, { atOnce: 100 }));

        it('are limited to 20 a month, also if all come at the same time, and start again with the next month', async () => {
            const inviter = await books.user({});
            const invite = (count: number) =>
                Promise.all(Array.from({ length: count }, () => books.user({ allowance: 1, invitedBy: inviter })));
            const first = await invite(25);
            const fetchAll = () =>
                Promise.all(first.map((user, place) => fetchOnce(user, { credits: place % 2 ? books.credits : books.others })));
            await fetchAll();
            await books.advance(DAY);
            await fetchAll();
            expect(await bonusOf(inviter)).to.equal(2000);
            await books.advance(31 * DAY);
            const [next = ''] = await invite(1);
            await fetchOnce(next);
            await books.advance(DAY);
            await fetchOnce(next);
            expect(await bonusOf(inviter)).to.equal(2100);
        });

        it('reach each inviter if the invited users of many come together', async () => {
            const inviters = await Promise.all(Array.from({ length: 10 }, () => books.user({})));
            const invited = await Promise.all(
                inviters.flatMap((inviter) => [1, 2, 3].map(() => books.user({ allowance: 2, invitedBy: inviter }))),
            );
            await Promise.all(invited.map((user) => fetchOnce(user)));
            await books.advance(DAY);
            await Promise.all(invited.map((user) => fetchOnce(user)));
            expect(await Promise.all(inviters.map(bonusOf))).to.deep.equal(inviters.map(() => 300));
        });

        it('reach both of a chain whose fetches come together', async () => {
            const first = await books.user({ allowance: 2 });
            const second = await books.user({ allowance: 2, invitedBy: first });
            const third = await books.user({ allowance: 2, invitedBy: second });
            const fetchAll = () => Promise.all([third, second, first].map((user) => fetchOnce(user)));
            await fetchAll();
            await books.advance(DAY);
            await fetchAll();
            expect(await Promise.all([first, second, third].map(bonusOf))).to.deep.equal([150, 150, 50]);
        });
    });

    describe('by contributing', () => {
        it('come once for a domain, to the first of 100 at the same time (R16)', () =>
            contribute(books, { atOnce: 100, domain: 'contested.example' }));

        it('are limited to 10 a month', async () => {
            const account = await books.user({});
            const domains = Array.from({ length: 12 }, (_, place) => `tenth-${place}.example`);
            const earned = await Promise.all(domains.map((domain) => earnContribution(books.db, account, domain)));
            expect(earned.filter((credits) => credits === 50)).to.have.length(10);
            expect(await bonusOf(account)).to.equal(500);
            await books.advance(31 * DAY);
            expect(await earnContribution(books.db, account, 'next-month.example')).to.equal(50);
        });
    });
});
