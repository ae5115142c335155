import { expect } from 'chai';
import fc from 'fast-check';
import { checkLedger, totalHeld } from '../../shared/store/credits/ledger.ts';
import { type Books, openBooks, orderFor } from './books.ts';
import { LIFE, live } from './credit-model.ts';
import { ledgerEntries } from './ledger-entries.ts';

describe('the ledger', () => {
    let books: Books;
    beforeEach(async () => {
        books = await openBooks();
    });
    afterEach(() => books.close());

    it('matches the documented rules, whatever happens to three accounts', async () => {
        await fc.assert(
            fc.asyncProperty(LIFE, async (steps) => {
                await books.setTime('2027-01-31T12:00:00Z');
                await live(books, steps);
                await books.expectRightBooks();
            }),
            { numRuns: 25, seed: 20_270_131 },
        );
    });

    it('cannot be rewritten', async () => {
        await books.user({ allowance: 10 });
        for (const statement of [
            'update ledger_entries set available_delta = 0',
            'delete from ledger_entries',
            'truncate ledger_entries',
        ]) {
            const refusal = await books.db.raw(statement).catch((error: unknown) => error);
            expect(String(refusal)).to.include('append-only');
        }
    });

    it('has one end of an operation, even against our own code', async () => {
        const account = await books.user({ allowance: 10 });
        const order = orderFor(account);
        await books.credits.hold(order);
        await books.credits.release(order);
        const refusal = await books.db
            .raw(
                `insert into ledger_entries (account_id, operation, kind, available_delta, held_delta, at)
                 values (?, ?, 'charge', 0, 0, app_now())`,
                [account, order.operation],
            )
            .catch((error: unknown) => error);
        expect(refusal).to.include({ code: '23505' });
    });

    it('keeps a balance from falling below zero, even against our own code', async () => {
        const account = await books.user({ allowance: 10 });
        for (const column of ['allowance_available', 'bonus_available', 'held']) {
            const refusal = await books.db
                .raw('update credit_accounts set ?? = -1 where id = ?', [column, account])
                .catch((error: unknown) => error);
            expect(refusal).to.include({ code: '23514' });
        }
    });

    it('names the accounts that do not sum, and by how much', async () => {
        const [right, tooMuch, lost] = await Promise.all([
            books.user({ allowance: 10 }),
            books.user({ bonus: 5 }),
            books.user({ allowance: 10 }),
        ]);
        const order = orderFor(lost, { maxUnits: 4 });
        await Promise.all([books.credits.hold(orderFor(right)), books.credits.hold(order)]);
        await books.db.raw('update credit_accounts set bonus_available = bonus_available + 3 where id = ?', [tooMuch]);
        await books.db.raw('delete from holds where operation = ?', [order.operation]);
        const drift = await checkLedger(books.db);
        expect(drift).to.have.length(2);
        expect(drift).to.deep.include({ accountId: tooMuch, available: 3, held: 0, openHolds: 0 });
        expect(drift).to.deep.include({ accountId: lost, available: 0, held: 0, openHolds: 4 });
        expect(await totalHeld(books.db)).to.equal(5);
    });

    it('has an entry for each movement', async () => {
        const account = await books.user({ allowance: 10 });
        const order = orderFor(account, { maxUnits: 4 });
        await books.credits.hold(order);
        await books.credits.release(order);
        const [grant, hold, release] = await ledgerEntries(books.db, account);
        expect(grant).to.include({ kind: 'grant' });
        expect(release).to.include({ kind: 'release', operation: order.operation, availableDelta: 4, heldDelta: -4 });
        expect(hold).to.include({ kind: 'hold', operation: order.operation, availableDelta: -4, heldDelta: 4 });
    });
});
