import { expect } from 'chai';
import { type Db, openDb } from '../../shared/platform/db.ts';
import { isOutage } from '../../shared/platform/pg-errors.ts';
import { type Credits, openCredits } from '../../shared/store/credits/credits.ts';
import { roomFor } from '../support/eventually.ts';
import { startStopwatch } from '../support/stopwatch.ts';
import { type Books, openBooks, orderFor } from './books.ts';
import { type Link, openLink } from './link.ts';
import { loseAnswers } from './rushes.ts';

describe('credits when the database connection breaks', () => {
    let books: Books;
    let link: Link;
    let db: Db;
    let credits: Credits;
    before(async () => {
        books = await openBooks();
        link = await openLink(books.url);
        db = openDb({ url: link.url });
        credits = openCredits(db, { settlePatienceMs: 300 });
    });
    // Connections are opened before a test breaks one, so that the response to a movement is lost and not the handshake.
    beforeEach(() => db.raw('select 1'));
    afterEach(() => books.expectRightBooks());
    after(async () => {
        await credits.close();
        await db.destroy();
        await link.close();
        await books.close();
    });

    it('after a hold was committed, find it by its operation', async () => {
        const [account, empty] = await Promise.all([books.user({ allowance: 10 }), books.user({})]);
        const order = orderFor(account, { unit: 4, maxUnits: 9 });
        link.loseNextAnswer();
        const [verdict, refusal] = await Promise.all([credits.hold(order), credits.hold(orderFor(empty))]);
        expect(verdict).to.deep.equal({ ok: true, operation: order.operation, amount: 8, units: 2, availableAfter: 2 });
        expect(refusal).to.deep.equal({ ok: false, available: 0 });
        await credits.release(order);
        expect(await books.story(account)).to.deep.equal(['grant +10', 'hold -8 +8', 'release +8 -8']);
    });

    it('after a charge was committed, return the bill and charge once', async () => {
        const account = await books.user({ allowance: 10 });
        const order = orderFor(account, { maxUnits: 4 });
        await credits.hold(order);
        link.loseNextAnswer();
        expect(await credits.charge({ operation: order.operation, amount: 3 })).to.deep.equal({
            ok: true,
            charged: 3,
            available: 57,
            firstFetchBonus: 50,
        });
        expect(await books.story(account)).to.deep.equal(['grant +10', 'hold -4 +4', 'charge +1 -4', 'first_fetch +50']);
    });

    it('after a mark was committed, recognise it as their own', async () => {
        const account = await books.user({ allowance: 10 });
        const order = orderFor(account, { effect: 'write' });
        await credits.hold(order);
        link.loseNextAnswer();
        expect(await credits.markSent(order.operation)).to.equal(true);
        expect(await books.credits.markSent(order.operation)).to.equal(false);
        link.loseNextAnswer();
        expect(await credits.release(order)).to.include({ before: 'sent', marked: true });
    });

    it('and stays down, report it soon, and move nothing', async () => {
        const account = await books.user({ allowance: 10 });
        link.cut();
        const elapsedMs = startStopwatch();
        const error = await credits.hold(orderFor(account)).catch((reason: unknown) => reason);
        expect(isOutage(error)).to.equal(true);
        expect(elapsedMs()).to.be.below(roomFor(500));
        link.restore();
        expect(await books.story(account)).to.deep.equal(['grant +10']);
    });

    it('and stays down after a hold, leave the hold to the sweeper', async () => {
        const account = await books.user({ allowance: 10 });
        const order = orderFor(account, { expiresInMs: 0 });
        await credits.hold(order);
        link.cut();
        const error = await credits.charge({ operation: order.operation, amount: 1 }).catch((reason: unknown) => reason);
        expect(isOutage(error)).to.equal(true);
        link.restore();
        await books.credits.sweep();
        expect(await books.credits.balance(account)).to.include({ available: 10, held: 0 });
        expect(await credits.charge({ operation: order.operation, amount: 1 })).to.include({ ok: false, state: 'released' });
    });

    it('silently, find out on another connection what was committed', async () => {
        const patient = openCredits(db, { patienceMs: 3000, settlePatienceMs: 3000, timeoutMs: 400 });
        const [account, other] = await Promise.all([books.user({ allowance: 10 }), books.user({ allowance: 10 })]);
        const [order, beside] = [orderFor(account, { maxUnits: 4 }), orderFor(other, { maxUnits: 2 })];
        link.swallowNextAnswer();
        const [verdict, neighbour] = await Promise.all([patient.hold(order), patient.hold(beside)]);
        expect(verdict).to.include({ ok: true, amount: 4 });
        expect(neighbour).to.include({ ok: true, amount: 2 });
        link.swallowNextAnswer();
        const [bill, release] = await Promise.all([patient.charge({ operation: order.operation, amount: 3 }), patient.release(beside)]);
        expect(bill).to.include({ ok: true, charged: 3 });
        expect(release).to.include({ before: 'held' });
        await patient.close();
        expect(await books.story(account)).to.deep.equal(['grant +10', 'hold -4 +4', 'charge +1 -4', 'first_fetch +50']);
        expect(await books.story(other)).to.deep.equal(['grant +10', 'hold -2 +2', 'release +2 -2']);
    });

    it('lose no credit and charge nobody twice, however often a response is lost (R11)', async () => {
        const patient = openCredits(db, { patienceMs: 3000, settlePatienceMs: 3000 });
        await loseAnswers({ books, credits: patient, link }, { callers: 8, calls: 25 });
        await patient.close();
    });
});
