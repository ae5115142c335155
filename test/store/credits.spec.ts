import { expect } from 'chai';
import { newId } from '../../shared/domain/text/ids.ts';
import { isOutage } from '../../shared/platform/pg-errors.ts';
import { openCredits } from '../../shared/store/credits/credits.ts';
import { type Books, openBooks, orderFor } from './books.ts';
import { spendOneByOne } from './rushes.ts';

describe('credits', () => {
    let books: Books;
    before(async () => {
        books = await openBooks();
    });
    afterEach(() => books.expectRightBooks());
    after(() => books.close());

    async function hold(accountId: string, order: Parameters<typeof orderFor>[1] = {}) {
        const verdict = await books.credits.hold(orderFor(accountId, order));
        if (!verdict.ok) throw new Error(`no hold: ${verdict.available} available`);
        return verdict;
    }

    describe('a balance', () => {
        it('is read in few queries for all accounts that ask at the same moment', async () => {
            const [ada, bob] = [await books.user({ allowance: 7 }), await books.user({ allowance: 9 })];
            let reads = 0;
            const note = ({ sql }: { sql: string }) => {
                if (sql.includes('credit_accounts')) reads++;
            };
            books.db.on('query', note);
            try {
                const asked = Array.from({ length: 100 }, (_, index) => [ada, bob, 'usr_nobody'][index % 3] ?? '');
                const balances = await Promise.all(asked.map((account) => books.credits.balance(account)));
                const right = asked.map((account) => (account === ada ? 7 : account === bob ? 9 : undefined));
                expect(balances.map((balance) => balance?.available)).to.deep.equal(right);
                expect(reads).to.be.within(1, 2);
            } finally {
                books.db.off('query', note);
            }
        });
    });

    describe('a hold', () => {
        it('holds as many units as are wanted', async () => {
            const account = await books.user({ allowance: 100 });
            const held = await hold(account, { unit: 5, maxUnits: 7 });
            expect(held).to.include({ amount: 35, units: 7, availableAfter: 65 });
            expect(await books.credits.balance(account)).to.include({ available: 65, held: 35 });
            await books.credits.release(held);
        });

        it('is not made if the site has changed since it was read, and does not affect other holds of its statement', async () => {
            const account = await books.user({ allowance: 100 });
            const siteState = { registrable: 'nobody.example', revision: '::' };
            const [stale, fresh] = await Promise.all([
                books.credits.hold(orderFor(account, { unit: 5, siteState: { ...siteState, revision: '7:8:9' } })),
                books.credits.hold(orderFor(account, { unit: 5, versionId: 999_999, site: 'nobody.example', siteState })),
            ]);
            expect(stale).to.deep.include({ ok: false, isStale: true });
            expect(fresh).to.include({ ok: true, amount: 5, availableAfter: 95 });
            if (fresh.ok) await books.credits.release(fresh);
        });

        it('is made of what a settlement returns in the same moment', async () => {
            const account = await books.user({ allowance: 5 });
            const held = await hold(account, { unit: 5 });
            const [released, next] = await Promise.all([books.credits.release(held), books.credits.hold(orderFor(account, { unit: 5 }))]);
            expect(released.before).to.equal('held');
            expect(next).to.include({ ok: true, amount: 5 });
            if (next.ok) await books.credits.release(next);
        });

        it('takes as many complete units as the balance pays for', async () => {
            const account = await books.user({ allowance: 9, bonus: 5 });
            const held = await hold(account, { unit: 5, maxUnits: 100 });
            expect(held).to.include({ amount: 10, units: 2, availableAfter: 4 });
            await books.credits.release(held);
        });

        it('is refused below one unit, and takes nothing', async () => {
            const account = await books.user({ allowance: 4 });
            expect(await books.credits.hold(orderFor(account, { unit: 5, maxUnits: 3 }))).to.deep.equal({ ok: false, available: 4 });
            expect(await books.story(account)).to.deep.equal(['grant +4']);
        });

        it('is refused for an account that does not exist', async () => {
            expect(await books.credits.hold(orderFor(newId('usr')))).to.deep.equal({ ok: false, available: 0 });
        });

        it('spends the allowance before the bonus', async () => {
            const account = await books.user({ allowance: 3, bonus: 10 });
            const held = await hold(account, { maxUnits: 5 });
            expect(await books.credits.balance(account)).to.deep.include({ allowance: { limit: 3, remaining: 0 }, bonus: 8, held: 5 });
            await books.credits.release(held);
            expect(await books.credits.balance(account)).to.deep.include({ allowance: { limit: 3, remaining: 3 }, bonus: 10, held: 0 });
        });

        it('fails if its operation already has one, and does not affect other holds of its statement', async () => {
            const account = await books.user({ allowance: 10 });
            const first = await hold(account);
            const [again, other] = await Promise.allSettled([books.credits.hold(orderFor(account, first)), hold(account)]);
            expect(again.status).to.equal('rejected');
            if (other.status === 'rejected') throw other.reason;
            expect(await books.credits.balance(account)).to.include({ available: 8, held: 2 });
            await Promise.all([books.credits.release(first), books.credits.release(other.value)]);
        });
    });

    describe('concurrent orders', () => {
        it('are each checked against their own account, and only an empty account fails', async () => {
            const accounts = await Promise.all([books.user({ allowance: 1 }), books.user({}), books.user({ allowance: 1 })]);
            const verdicts = await Promise.all(accounts.map((account) => books.credits.hold(orderFor(account))));
            expect(verdicts.map((verdict) => verdict.ok)).to.deep.equal([true, false, true]);
            await Promise.all(verdicts.map((verdict) => verdict.ok && books.credits.release(verdict)));
        });

        it('are served in order while the balance lasts, also after one that is too expensive', async () => {
            const account = await books.user({ allowance: 10 });
            const units = [4, 5, 5, 1];
            const verdicts = await Promise.all(units.map((unit) => books.credits.hold(orderFor(account, { unit }))));
            expect(verdicts.map((verdict) => verdict.ok)).to.deep.equal([true, true, false, true]);
            await Promise.all(verdicts.map((verdict) => verdict.ok && books.credits.release(verdict)));
        });

        it('are not affected by one that the database cannot store', async () => {
            const account = await books.user({ allowance: 10 });
            const orders = Array.from({ length: 9 }, (_, place) => orderFor(account, place === 4 ? { site: 'nul\0.example' } : {}));
            const verdicts = await Promise.allSettled(orders.map((order) => books.credits.hold(order)));
            expect(verdicts.map((verdict) => verdict.status).filter((status) => status === 'rejected')).to.have.length(1);
            expect(verdicts[4]?.status).to.equal('rejected');
            expect(await books.credits.balance(account)).to.include({ available: 2, held: 8 });
            await Promise.all(orders.map((order) => books.credits.release(order)));
        });

        it('of 2,000 debits of 1 let exactly 1,000 through on a balance of 1,000', async () => {
            const account = await books.user({ allowance: 600, bonus: 400 });
            const outcomes = await Promise.all(
                Array.from({ length: 2000 }, async (_, place) => {
                    const credits = place % 2 === 0 ? books.credits : books.others;
                    const held = await credits.hold(orderFor(account, { userId: 'usr_nobody' }));
                    return held.ok && (await credits.charge({ operation: held.operation, amount: 1 })).ok;
                }),
            );
            expect(outcomes.filter((isCharged) => isCharged)).to.have.length(1000);
            expect(await books.credits.balance(account)).to.include({ available: 0, held: 0 });
        });

        it('one by one from each of eight processes spend exactly the allowance and the bonus', () =>
            spendOneByOne(books, { processes: 8, allowance: 100, bonus: 400 }));
    });

    describe('a charge', () => {
        it('takes the exact cost and returns the rest', async () => {
            const account = await books.user({ allowance: 10, bonus: 10 });
            const held = await hold(account, { maxUnits: 15, userId: 'usr_nobody' });
            expect(await books.credits.charge({ operation: held.operation, amount: 12 })).to.deep.equal({
                ok: true,
                charged: 12,
                available: 8,
                firstFetchBonus: 0,
            });
            expect(await books.credits.balance(account)).to.deep.include({ allowance: { limit: 10, remaining: 0 }, bonus: 8, held: 0 });
            expect(await books.story(account)).to.deep.equal(['grant +10', 'bonus +10', 'hold -15 +15', 'charge +3 -15']);
        });

        it('of nothing succeeds', async () => {
            const account = await books.user({ allowance: 10 });
            const held = await hold(account, { maxUnits: 3 });
            expect(await books.credits.charge({ operation: held.operation, amount: 0 })).to.include({
                ok: true,
                charged: 0,
                available: 10,
            });
        });

        it('never takes more than is held', async () => {
            const account = await books.user({ allowance: 10 });
            const held = await hold(account, { maxUnits: 3, userId: 'usr_nobody' });
            expect(await books.credits.charge({ operation: held.operation, amount: 9 })).to.include({ ok: true, charged: 3, available: 7 });
        });

        it('of a released hold changes nothing', async () => {
            const account = await books.user({ allowance: 10 });
            const held = await hold(account);
            await books.credits.markSent(held.operation);
            await books.credits.release(held);
            expect(await books.credits.charge({ operation: held.operation, amount: 1 })).to.deep.equal({
                ok: false,
                state: 'released',
                marked: true,
                available: 10,
            });
        });

        it('of an operation without a hold changes nothing', async () => {
            expect(await books.credits.charge({ operation: newId('op'), amount: 1 })).to.include({ ok: false, state: 'unknown' });
        });

        it('that waits for a lock is given up by the database too, so that nothing is charged after its caller got an error', async () => {
            const account = await books.user({ allowance: 10 });
            const held = await hold(account, { unit: 5 });
            const impatient = openCredits(books.db, { settlePatienceMs: 100 });
            await books.db.transaction(async (transaction) => {
                await transaction.raw('lock table credit_accounts in exclusive mode');
                const refused: unknown = await impatient.charge({ operation: held.operation, amount: 5 }).catch((error: unknown) => error);
                expect(isOutage(refused), String(refused)).to.equal(true);
                const { rows } = await transaction.raw(
                    "select query from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
                );
                expect(rows).to.deep.equal([]);
            });
            await impatient.close();
            expect(await books.credits.stateOf(held.operation)).to.include({ state: 'held' });
            await books.credits.release(held);
        });
    });

    describe('a mark', () => {
        it('is given once, to an open hold', async () => {
            const account = await books.user({ allowance: 10 });
            const held = await hold(account, { effect: 'write' });
            expect(await books.credits.markSent(held.operation)).to.equal(true);
            expect(await books.credits.markSent(held.operation)).to.equal(false);
            expect(await books.others.markSent(held.operation)).to.equal(false);
            expect(await books.credits.release(held)).to.include({ before: 'sent', marked: true });
        });

        it('is not given to a released hold, nor to an unknown one', async () => {
            const account = await books.user({ allowance: 10 });
            const held = await hold(account, { effect: 'write' });
            expect(await books.credits.release(held)).to.include({ before: 'held', marked: false });
            expect(await books.credits.markSent(held.operation)).to.equal(false);
            expect(await books.credits.markSent(newId('op'))).to.equal(false);
        });

        it('is reported to anyone who comes after the sweeper', async () => {
            const account = await books.user({ allowance: 10 });
            const held = await hold(account, { effect: 'write', expiresInMs: 0 });
            await books.credits.markSent(held.operation);
            await books.credits.sweep();
            expect(await books.credits.release(held)).to.include({ before: 'released', marked: true });
        });
    });

    describe('a race', () => {
        it('between charge, release and sweep is won by one of them, once', async () => {
            const account = await books.user({ allowance: 1000 });
            const orders = Array.from({ length: 100 }, () => orderFor(account, { unit: 3, userId: 'usr_nobody', expiresInMs: 0 }));
            await Promise.all(orders.map((order) => books.credits.hold(order)));
            const sweeps = [books.credits.sweep(40), books.others.sweep(40)];
            const results = await Promise.all(
                orders.map(async ({ operation }) => {
                    const [charge, again, release, lateRelease] = await Promise.all([
                        books.credits.charge({ operation, amount: 2 }),
                        books.others.charge({ operation, amount: 3 }),
                        books.others.release({ operation }),
                        books.credits.release({ operation }),
                    ]);
                    const charged = [charge, again].flatMap((verdict) => (verdict.ok ? [verdict.charged] : []));
                    const releases = [release, lateRelease].filter(({ before }) => before === 'held').length;
                    expect(charged.length + releases, 'winners').to.be.at.most(1);
                    const holdState = await books.credits.stateOf(operation);
                    expect(holdState?.state).to.equal(charged.length === 1 ? 'charged' : 'released');
                    return charged[0] ?? 0;
                }),
            );
            await Promise.all(sweeps);
            const spent = results.reduce((sum, charged) => sum + charged, 0);
            expect(await books.credits.balance(account)).to.include({ available: 1000 - spent, held: 0 });
        });

        it('between the mark and the outcome is won by the first of them', async () => {
            const account = await books.user({ allowance: 1000 });
            const orders = Array.from({ length: 100 }, () => orderFor(account, { effect: 'write' }));
            await Promise.all(orders.map((order) => books.credits.hold(order)));
            await Promise.all(
                orders.map(async ({ operation }, place) => {
                    const mark = () => books.others.markSent(operation);
                    const release = () => books.credits.release({ operation });
                    const [marked, released] =
                        place % 2 ? await Promise.all([mark(), release()]) : (await Promise.all([release(), mark()])).toReversed();
                    expect(released).to.include({ before: marked ? 'sent' : 'held', marked });
                }),
            );
        });
    });

    describe('the sweeper', () => {
        it('releases holds whose time is over, and no others', async () => {
            const account = await books.user({ allowance: 10 });
            const forgotten = await hold(account, { maxUnits: 2, expiresInMs: 0 });
            const running = await hold(account, { maxUnits: 3, expiresInMs: 60_000 });
            expect(await books.credits.sweep()).to.include({ released: 1 });
            expect(await books.credits.stateOf(forgotten.operation)).to.include({ state: 'released', charged: 0 });
            expect(await books.credits.balance(account)).to.include({ available: 7, held: 3 });
            await books.credits.release(running);
        });

        it('releases each hold once, however many sweep', async () => {
            const account = await books.user({ allowance: 300 });
            await Promise.all(Array.from({ length: 300 }, () => hold(account, { expiresInMs: 0 })));
            const swept = await Promise.all(Array.from({ length: 8 }, (_, place) => (place % 2 ? books.credits : books.others).sweep(100)));
            const more = await books.credits.sweep(500);
            expect([...swept, more].reduce((sum, { released }) => sum + released, 0)).to.equal(300);
            expect(await books.credits.balance(account)).to.include({ available: 300, held: 0 });
        });
    });

    it('accept nothing more once they are closed, and finish what they have', async () => {
        const account = await books.user({ allowance: 10 });
        const closing = openCredits(books.db);
        const order = orderFor(account);
        const held = closing.hold(order);
        await closing.close();
        expect(await held).to.include({ ok: true });
        const refusal = await closing.hold(orderFor(account)).catch((error: unknown) => error);
        expect(refusal).to.be.instanceOf(Error);
        await books.credits.release(order);
    });
});
